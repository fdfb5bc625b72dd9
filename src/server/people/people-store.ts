import { type Clock, systemClock } from "../../clock.ts";
import type { Person } from "../../config.ts";
import { BelayError } from "../../errors.ts";
import type { SignedIn } from "../deps.ts";
import { hashOfSecret, isSameText, isSecret, newSecret, type SecretKind } from "./secret.ts";
import type { ServerDatabase } from "./server-database.ts";

/** `agent` marks the credential of a program, which can never decide. */
export type StoredRole = Person["roles"][number] | "agent";

export const ROLES: readonly StoredRole[] = ["viewer", "operator", "approver", "admin", "agent"];

export interface StoredPerson {
  readonly id: string;
  readonly name: string;
  readonly roles: readonly StoredRole[];
  readonly tenant: string;
  readonly isRevoked: boolean;
}

export interface PeopleStoreOptions {
  readonly clock?: Clock;
  /** How long a session lasts. Default 8 hours. */
  readonly sessionMs?: number;
  /** How long a sign-in link works. Default 15 minutes. */
  readonly linkMs?: number;
  /** How long a token works. Default 90 days. */
  readonly tokenMs?: number;
}

/** Who may use the server, and the secrets by which they are known; of a secret only its hash is kept. */
export interface PeopleStore {
  /** Adds a person or replaces name and roles. Throws `BELAY_PERSON_INVALID`. */
  add(person: Omit<StoredPerson, "isRevoked">): void;
  /**
   * Makes the people of the configuration those of this list: who left it loses access, who was revoked stays so, and
   * who was added by command is left alone.
   */
  takeConfigured(people: readonly Person[], tenant: string): void;
  list(tenant?: string): readonly StoredPerson[];
  find(tenant: string, id: string): SignedIn | undefined;
  /** Ends their sessions and makes their tokens and links worthless. Throws `BELAY_PERSON_UNKNOWN`. */
  revoke(tenant: string, id: string): void;
  /** A new token or sign-in link; the secret is not kept and cannot be shown again. Throws `BELAY_PERSON_UNKNOWN`. */
  issue(kind: "token" | "link", tenant: string, id: string): string;
  /** Who has this token or session, unless it has expired. */
  known(kind: "token" | "session", secret: string): SignedIn | undefined;
  /** Whose link it is, without using it up. */
  peek(link: string): SignedIn | undefined;
  /** Exchanges a link for a session, once. */
  redeem(link: string): { readonly session: string; readonly signedIn: SignedIn } | undefined;
  endSession(session: string): void;
  readonly sessionMs: number;
}

const HOUR_MS = 3_600_000;
const PERSON_ID = /^[A-Za-z0-9][\w.@-]{0,63}$/;

/** Creates the store of people over the server's database. */
export function createPeopleStore(database: ServerDatabase, options: PeopleStoreOptions = {}): PeopleStore {
  const { clock = systemClock, sessionMs = 8 * HOUR_MS, linkMs = HOUR_MS / 4, tokenMs = 90 * 24 * HOUR_MS } = options;
  const life: Readonly<Record<SecretKind, number>> = { session: sessionMs, link: linkMs, token: tokenMs };

  function find(tenant: string, id: string): SignedIn | undefined {
    const row = database.get("SELECT * FROM people WHERE tenant = ? AND person_id = ?", tenant, id);
    return row === undefined ? undefined : signedInOf(toPerson(row));
  }

  function issue(kind: SecretKind, tenant: string, id: string): string {
    if (find(tenant, id) === undefined) throw unknownPerson(tenant, id);
    const secret = newSecret(kind);
    const now = clock.now();
    database.run("DELETE FROM credentials WHERE expires_at <= ?", now);
    database.run(
      "INSERT INTO credentials (hash, kind, tenant, person_id, created_at, expires_at) VALUES (?, ?, ?, ?, ?, ?)",
      hashOfSecret(secret),
      kind,
      tenant,
      id,
      now,
      now + life[kind],
    );
    return secret;
  }

  function known(kind: SecretKind, secret: string): SignedIn | undefined {
    if (!isSecret(kind, secret)) return undefined;
    const hash = hashOfSecret(secret);
    const row = database.get("SELECT * FROM credentials WHERE hash = ? AND kind = ?", hash, kind);
    if (row === undefined || !isSameText(String(row["hash"]), hash)) return undefined;
    return Number(row["expires_at"]) > clock.now() ? find(String(row["tenant"]), String(row["person_id"])) : undefined;
  }

  return {
    sessionMs,
    add(person) {
      checkPerson(person);
      database.run(
        `INSERT INTO people (tenant, person_id, name, roles, source) VALUES (?, ?, ?, ?, 'command')
         ON CONFLICT DO UPDATE SET name = excluded.name, roles = excluded.roles, source = 'command', revoked_at = NULL`,
        person.tenant,
        person.id,
        person.name,
        JSON.stringify(person.roles),
      );
    },
    takeConfigured: (people, tenant) => takeConfigured(database, people, tenant),
    list: (tenant) =>
      database
        .all("SELECT * FROM people ORDER BY tenant, person_id")
        .map(toPerson)
        .filter((person) => tenant === undefined || person.tenant === tenant),
    find,
    revoke(tenant, id) {
      database.transaction(() => {
        const sql = "UPDATE people SET revoked_at = ? WHERE tenant = ? AND person_id = ?";
        if (database.run(sql, clock.now(), tenant, id) === 0) throw unknownPerson(tenant, id);
        database.run("DELETE FROM credentials WHERE tenant = ? AND person_id = ?", tenant, id);
      });
    },
    issue,
    known,
    peek: (link) => known("link", link),
    redeem: (link) =>
      database.transaction(() => {
        const signedIn = known("link", link);
        if (signedIn === undefined) return undefined;
        database.run("DELETE FROM credentials WHERE hash = ?", hashOfSecret(link));
        return { session: issue("session", signedIn.tenant, signedIn.person.id), signedIn };
      }),
    endSession(session) {
      database.run("DELETE FROM credentials WHERE hash = ? AND kind = 'session'", hashOfSecret(session));
    },
  };
}

function takeConfigured(database: ServerDatabase, people: readonly Person[], tenant: string): void {
  for (const person of people) checkPerson({ ...person, tenant });
  const ids = JSON.stringify(people.map(({ id }) => id));
  database.transaction(() => {
    database.run(
      "DELETE FROM people WHERE tenant = ? AND source = 'config' AND person_id NOT IN (SELECT value FROM json_each(?))",
      tenant,
      ids,
    );
    for (const { id, name, roles } of people) {
      database.run(
        `INSERT INTO people (tenant, person_id, name, roles, source) VALUES (?, ?, ?, ?, 'config')
         ON CONFLICT DO UPDATE SET name = excluded.name, roles = excluded.roles WHERE source = 'config'`,
        tenant,
        id,
        name,
        JSON.stringify(roles),
      );
    }
    database.run(
      `DELETE FROM credentials WHERE NOT EXISTS (SELECT 1 FROM people
         WHERE people.tenant = credentials.tenant AND people.person_id = credentials.person_id)`,
    );
  });
}

function toPerson(row: Readonly<Record<string, unknown>>): StoredPerson {
  return {
    id: String(row["person_id"]),
    name: String(row["name"]),
    roles: (JSON.parse(String(row["roles"])) as StoredRole[]).filter((role) => ROLES.includes(role)),
    tenant: String(row["tenant"]),
    isRevoked: row["revoked_at"] !== null,
  };
}

function signedInOf({ id, name, roles, tenant, isRevoked }: StoredPerson): SignedIn | undefined {
  if (isRevoked) return undefined;
  const human = roles.filter((role) => role !== "agent");
  return { person: { id, name, roles: human }, tenant, kind: roles.includes("agent") ? "agent" : "person" };
}

function checkPerson({ id, name, roles, tenant }: Omit<StoredPerson, "isRevoked">): void {
  const hasRoles = roles.length > 0 && roles.every((role) => ROLES.includes(role));
  const hasName = name.trim() !== "" && name.length <= 100 && name.isWellFormed();
  if (PERSON_ID.test(id) && /^[\w.:@-]{1,128}$/.test(tenant) && hasName && hasRoles) return;
  throw new BelayError(
    "BELAY_PERSON_INVALID",
    `The person ${JSON.stringify(id)} needs an id of up to 64 letters, digits, _ . @ -, a name of up to 100 ` +
      `characters, and roles of ${ROLES.join(", ")}.`,
  );
}

function unknownPerson(tenant: string, id: string): BelayError {
  return new BelayError(
    "BELAY_PERSON_UNKNOWN",
    `There is no person ${JSON.stringify(id)} in the tenant ${tenant}, or they were revoked. See belay people list.`,
  );
}
