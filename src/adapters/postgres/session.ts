import { hash } from "node:crypto";
import { Writable } from "node:stream";
import { BelayError } from "../../errors.ts";
import type { StoredRow } from "../../journal/index.ts";
import type { PostgresClient } from "./options.ts";
import { isStatementError, UnansweredCommit } from "./postgres-error.ts";
import { decodeText, encodeText } from "./text-code.ts";

export interface Statement {
  readonly sql: string;
  readonly values?: readonly unknown[];
}

/** One connection while somebody has it to himself. */
export interface Session {
  all(sql: string, ...values: readonly unknown[]): Promise<readonly StoredRow[]>;
  /** As `all`, and a number that is too large for us comes as the nearest one instead of an error; to find damage. */
  allLoose(sql: string, ...values: readonly unknown[]): Promise<readonly StoredRow[]>;
  /** Sends several statements at once where the connection can, and waits for all. */
  each(statements: readonly Statement[]): Promise<readonly (readonly StoredRow[])[]>;
  /** SQL without values, possibly several statements. */
  script(sql: string): Promise<void>;
}

/** What the work inside a transaction came to; with `keep` false all that it wrote is taken back. */
export interface Outcome<Value> {
  readonly value: Value;
  readonly keep: boolean;
}

/** Numbers of PostgreSQL's types (`pg_type.oid`), which never change. */
const TYPE = { bool: 16, int8: 20, int2: 21, int4: 23, text: 25 } as const;

const STRICT = { getTypeParser: (type: number) => parserOf(type, strictNumber) };
const LOOSE = { getTypeParser: (type: number) => parserOf(type, Number) };

// One name for one text in all sessions.
const names = new Map<string, string>();

export function createSession(client: PostgresClient): Session {
  const run = async (types: object, sql: string, values: readonly unknown[]): Promise<readonly StoredRow[]> => {
    const result = await client.query({ name: nameOf(sql), text: sql, values: values.map(toParameter), types });
    return result.rows as StoredRow[];
  };
  return {
    all: (sql, ...values) => run(STRICT, sql, values),
    allLoose: (sql, ...values) => run(LOOSE, sql, values),
    each: async (statements) => {
      if (isPipelined(client)) {
        return together(client, () => statements.map(({ sql, values = [] }) => run(STRICT, sql, values)));
      }
      const results: (readonly StoredRow[])[] = [];
      for (const { sql, values = [] } of statements) {
        results.push(await run(STRICT, sql, values));
      }
      return results;
    },
    script: async (sql) => {
      await client.query({ text: sql });
    },
  };
}

/**
 * Begins a transaction, sends `opening` with it, and ends it as the work says.
 *
 * Throws `UnansweredCommit` when the connection breaks before COMMIT is answered. `begin` is SQL that begins it.
 */
export async function inTransaction<Value>(
  client: PostgresClient,
  begin: string,
  opening: Statement | undefined,
  work: (session: Session, opened: readonly StoredRow[]) => Promise<Outcome<Value>>,
): Promise<Value> {
  const session = createSession(client);
  let outcome: Outcome<Value>;
  try {
    outcome = await work(session, await openTransaction(client, session, begin, opening));
  } catch (error) {
    await rollBack(client, error);
    throw error;
  }
  if (!outcome.keep) {
    await client.query({ text: "ROLLBACK" });
    return outcome.value;
  }
  await commit(client);
  return outcome.value;
}

async function openTransaction(
  client: PostgresClient,
  session: Session,
  begin: string,
  opening: Statement | undefined,
): Promise<readonly StoredRow[]> {
  if (opening === undefined || !isPipelined(client)) {
    await client.query({ text: begin });
    return opening === undefined ? [] : session.all(opening.sql, ...(opening.values ?? []));
  }
  // Only reads and locks: outside of a transaction, should BEGIN fail, they change nothing.
  const [, opened = []] = await together(client, () => [
    client.query({ text: begin }).then(() => []),
    session.all(opening.sql, ...(opening.values ?? [])),
  ]);
  return opened;
}

async function commit(client: PostgresClient): Promise<void> {
  let tag: string | undefined;
  try {
    tag = (await client.query({ text: "COMMIT" })).command;
  } catch (error) {
    throw isStatementError(error) ? error : new UnansweredCommit(error);
  }
  if (tag !== "COMMIT") {
    throw new Error(`COMMIT was answered with ${String(tag)}`);
  }
}

async function rollBack(client: PostgresClient, error: unknown): Promise<void> {
  if (error instanceof UnansweredCommit) {
    return;
  }
  try {
    await client.query({ text: "ROLLBACK" });
  } catch {
    // The first error says more, and a session that is gone has nothing to take back.
  }
}

/** Sends several queries as one piece: a write to the socket costs more than what is in it. */
function together<Value>(client: PostgresClient, send: () => readonly Promise<Value>[]): Promise<readonly Value[]> {
  const stream = streamOf(client);
  stream?.cork();
  try {
    return Promise.all(send());
  } finally {
    stream?.uncork();
  }
}

/** The socket of one of `pg`'s own clients. */
function streamOf(client: PostgresClient): { cork(): void; uncork(): void } | undefined {
  const { stream } = (client as { readonly connection?: { readonly stream?: unknown } }).connection ?? {};
  return stream instanceof Writable ? stream : undefined;
}

function isPipelined(client: PostgresClient): boolean {
  return "pipeline" in client && client.pipeline === true;
}

function nameOf(sql: string): string {
  let name = names.get(sql);
  if (name === undefined) {
    name = `belay_${hash("sha256", sql).slice(0, 24)}`;
    names.set(sql, name);
  }
  return name;
}

function toParameter(value: unknown): unknown {
  if (typeof value === "string") {
    return encodeText(value);
  }
  return Array.isArray(value) ? value.map(toParameter) : value;
}

/** Our own, so that nobody's `pg.types.setTypeParser` changes what a store reads. */
function parserOf(type: number, bigNumber: (text: string) => number): (text: string) => unknown {
  switch (type) {
    case TYPE.int8:
      return bigNumber;
    case TYPE.int2:
    case TYPE.int4:
      return Number;
    case TYPE.bool:
      return (text) => text === "t";
    case TYPE.text:
      return decodeText;
    default:
      return (text) => text;
  }
}

function strictNumber(text: string): number {
  const number = Number(text);
  if (!Number.isSafeInteger(number)) {
    throw new BelayError(
      "BELAY_STORE_CORRUPT",
      `The store holds the number ${text}, which is too large to be ours: somebody edited it. See belay doctor.`,
    );
  }
  return number;
}
