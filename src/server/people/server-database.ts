import { closeSync, openSync } from "node:fs";
import { DatabaseSync, type SQLInputValue, type SQLOutputValue } from "node:sqlite";
import { BelayError } from "../../errors.ts";

/** "Bels" in ASCII. */
const APPLICATION_ID = 0x42656c73;
const SCHEMA_VERSION = 1;
const LOCK_TIMEOUT_MS = 5000;

const SCHEMA = `
CREATE TABLE people (
  tenant TEXT NOT NULL,
  person_id TEXT NOT NULL,
  name TEXT NOT NULL,
  roles TEXT NOT NULL,
  source TEXT NOT NULL CHECK (source IN ('config', 'command')),
  revoked_at INTEGER,
  PRIMARY KEY (tenant, person_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE credentials (
  hash TEXT PRIMARY KEY,
  kind TEXT NOT NULL CHECK (kind IN ('token', 'link', 'session')),
  tenant TEXT NOT NULL,
  person_id TEXT NOT NULL,
  created_at INTEGER NOT NULL,
  expires_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX credentials_by_person ON credentials (tenant, person_id);

CREATE TABLE votes (
  tenant TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  person_id TEXT NOT NULL,
  name TEXT NOT NULL,
  reason TEXT,
  args_hash TEXT NOT NULL,
  at INTEGER NOT NULL,
  PRIMARY KEY (tenant, approval_id, person_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE deliveries (
  tenant TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('waiting', 'delivered', 'given_up')),
  attempts INTEGER NOT NULL,
  due_at INTEGER NOT NULL,
  PRIMARY KEY (tenant, approval_id)
) STRICT, WITHOUT ROWID;

PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`;

type Row = Readonly<Record<string, SQLOutputValue>>;

/** The server's own tables: people and their credentials, votes, sent webhooks. */
export interface ServerDatabase extends Disposable {
  get(sql: string, ...values: SQLInputValue[]): Row | undefined;
  all(sql: string, ...values: SQLInputValue[]): readonly Row[];
  /** Returns the number of changed rows. Durable when it returns. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Runs synchronous work that is kept whole or not at all. */
  transaction<Value>(work: () => Value): Value;
  close(): void;
}

/**
 * Opens the server's database, and makes it when it is not there; `:memory:` keeps it in memory.
 *
 * It is a file of its own beside the journal: secrets of people are no part of what an auditor copies. Throws
 * `BELAY_STORE_FOREIGN`, `BELAY_STORE_TOO_NEW` and `BELAY_STORE_PATH`.
 */
export function openServerDatabase(path: string): ServerDatabase {
  const database = open(path);
  const statements = new Map<string, ReturnType<DatabaseSync["prepare"]>>();
  const prepared = (sql: string): ReturnType<DatabaseSync["prepare"]> => {
    const known = statements.get(sql) ?? database.prepare(sql);
    statements.set(sql, known);
    return known;
  };
  const close = (): void => {
    if (database.isOpen) database.close();
  };
  return {
    get: (sql, ...values) => prepared(sql).get(...values),
    all: (sql, ...values) => prepared(sql).all(...values),
    run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    transaction: (work) => {
      database.exec("BEGIN IMMEDIATE");
      try {
        const value = work();
        database.exec("COMMIT");
        return value;
      } finally {
        if (database.isTransaction) database.exec("ROLLBACK");
      }
    },
    close,
    [Symbol.dispose]: close,
  };
}

function open(path: string): DatabaseSync {
  try {
    // Readable by its owner alone.
    if (path !== ":memory:") closeSync(openSync(path, "a", 0o600));
    const database = new DatabaseSync(path, { timeout: LOCK_TIMEOUT_MS, defensive: true });
    prepareFile(database, path);
    return database;
  } catch (error) {
    if (error instanceof BelayError) throw error;
    throw new BelayError("BELAY_STORE_PATH", `The server's database ${path} cannot be opened. Correct --db.`, {
      cause: error,
    });
  }
}

function prepareFile(database: DatabaseSync, path: string): void {
  const pragma = (name: string): unknown => Object.values(database.prepare(`PRAGMA ${name}`).get() ?? {})[0];
  database.exec("BEGIN IMMEDIATE");
  const [application, version] = [pragma("application_id"), Number(pragma("user_version"))];
  if (application === 0 && version === 0) {
    database.exec(SCHEMA);
  } else if (application !== APPLICATION_ID) {
    throw new BelayError("BELAY_STORE_FOREIGN", `${path} is a database of another program. Choose another --db.`);
  } else if (version > SCHEMA_VERSION) {
    throw new BelayError("BELAY_STORE_TOO_NEW", `${path} was made by a later version. Update belay-harness.`);
  }
  database.exec("COMMIT");
  database.exec("PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;");
}
