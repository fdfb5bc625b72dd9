import type pg from "pg";
import { type StoredRow, storeClosed } from "../../journal/index.ts";
import type { PostgresClient, PostgresPool, PostgresSettings } from "./options.ts";
import { failureKind, isStatementError, sqlState, translatePostgresError } from "./postgres-error.ts";
import { createSession, inTransaction, type Outcome, type Session, type Statement } from "./session.ts";

const CONNECT_TIMEOUT_MS_MAX = 10_000;

// A process that was stopped in the middle of a transaction must not hold its rows for ever.
const IDLE_TIMEOUT_MS = 10_000;

/** One pool of connections to a store's schema. */
export interface Database {
  readonly settings: PostgresSettings;
  /** Reads outside of a transaction; translates what it throws. */
  read<Value>(work: (session: Session) => Promise<Value>): Promise<Value>;
  /** Reads as it was in one moment; translates what it throws. */
  snapshot<Value>(work: (session: Session) => Promise<Value>): Promise<Value>;
  /** Writes once, and throws what `pg` throws; `opening` locks or reads and is sent together with BEGIN. */
  attempt<Value>(
    opening: Statement | undefined,
    work: (session: Session, opened: readonly StoredRow[]) => Promise<Outcome<Value>>,
  ): Promise<Value>;
  /** One statement that is a durable transaction of its own; throws what `pg` throws. */
  single(sql: string, ...values: readonly unknown[]): Promise<readonly StoredRow[]>;
  /** A connection outside of the pool; the caller ends it. */
  connectAlone(): Promise<LoneClient>;
  translate(error: unknown): unknown;
  /** Throws once the store is closed. */
  open(): void;
  /** Refuses every use from now on, lets `finish` end what is under way, and ends the pool when it is our own. */
  close(finish?: () => Promise<unknown>): Promise<void>;
}

/** A connection that belongs to nobody else. */
export interface LoneClient extends Omit<PostgresClient, "release"> {
  end(): Promise<void>;
}

/** SQL that begins a transaction which is on the disk when it is committed, whatever the server's or user's defaults. */
export function beginDurable(lockTimeoutMs: number): string {
  return `BEGIN ISOLATION LEVEL READ COMMITTED READ WRITE; SET LOCAL synchronous_commit = on;
    SET LOCAL lock_timeout = ${lockTimeoutMs}; SET LOCAL idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`;
}

/** The same for statements without BEGIN, once on each connection that is ours alone. */
function makeDurable(lockTimeoutMs: number): string {
  return `SET SESSION CHARACTERISTICS AS TRANSACTION ISOLATION LEVEL READ COMMITTED READ WRITE;
    SET synchronous_commit = on; SET lock_timeout = ${lockTimeoutMs};
    SET idle_in_transaction_session_timeout = ${IDLE_TIMEOUT_MS}`;
}

const BEGIN_SNAPSHOT = "BEGIN ISOLATION LEVEL REPEATABLE READ READ ONLY";

const ignore = (): void => undefined;

/** What `pg` exports. */
export type Driver = Pick<typeof pg, "Client" | "Pool">;

/** Connects nothing yet. */
export function createDatabase(settings: PostgresSettings, driver: Driver): Database {
  const { label, pool: given, lockTimeoutMs } = settings;
  const pool: PostgresPool = given ?? createPool(settings, driver);
  // Without a listener an idle connection that breaks would end the process.
  pool.on("error", ignore);
  const isOwn = given === undefined;
  const begin = beginDurable(lockTimeoutMs);
  const withClient = <Value>(work: (client: PostgresClient) => Promise<Value>): Promise<Value> =>
    borrow(pool, isOwn ? makeDurable(lockTimeoutMs) : undefined, work);
  let closing: Promise<void> | undefined;
  const open = (): void => {
    if (closing !== undefined) {
      throw storeClosed(`store in ${label}`);
    }
  };
  const translate = (error: unknown): unknown => translatePostgresError(label, error);
  const translated = async <Value>(work: () => Promise<Value>): Promise<Value> => {
    open();
    try {
      return await work();
    } catch (error) {
      throw translate(error);
    }
  };
  return {
    settings,
    read: (work) => translated(() => withClient((client) => work(createSession(client)))),
    snapshot: (work) =>
      translated(() =>
        withClient((client) =>
          inTransaction(client, BEGIN_SNAPSHOT, undefined, async (session) => {
            return { value: await work(session), keep: false };
          }),
        ),
      ),
    attempt: (opening, work) => withClient((client) => inTransaction(client, begin, opening, work)),
    single: (sql, ...values) =>
      withClient((client) => {
        const write = (session: Session) => session.all(sql, ...values);
        return isOwn
          ? write(createSession(client))
          : inTransaction(client, begin, undefined, async (session) => ({ value: await write(session), keep: true }));
      }),
    connectAlone: () => connectAlone(pool, driver),
    translate,
    open,
    close: (finish) => {
      closing ??= (async () => {
        await finish?.();
        if (isOwn) {
          await pool.end();
        }
        pool.off("error", ignore);
      })();
      return closing;
    },
  };
}

function createPool({ connectionString, max, answerTimeoutMs }: PostgresSettings, { Pool }: Driver): PostgresPool {
  return new Pool({
    connectionString,
    max,
    application_name: "belay-store",
    connectionTimeoutMillis: Math.min(CONNECT_TIMEOUT_MS_MAX, answerTimeoutMs),
    query_timeout: answerTimeoutMs,
    keepAlive: true,
    // Several statements of one transaction travel together.
    pipeline: true,
  } as pg.PoolConfig);
}

async function connectAlone(pool: PostgresPool, { Client }: Driver): Promise<LoneClient> {
  const client = new Client(pool.options as pg.ClientConfig);
  client.on("error", ignore);
  await client.connect();
  return client as unknown as LoneClient;
}

const prepared = new WeakSet<PostgresClient>();

/** Lends a connection; `settings` are set once on each. */
async function borrow<Value>(
  pool: PostgresPool,
  settings: string | undefined,
  work: (client: PostgresClient) => Promise<Value>,
): Promise<Value> {
  const client = await pool.connect();
  client.on("error", ignore);
  let isBroken = true;
  try {
    if (settings !== undefined && !prepared.has(client)) {
      await client.query({ text: settings });
      prepared.add(client);
    }
    const value = await work(client);
    isBroken = false;
    return value;
  } catch (error) {
    // After an error of ours, or of a statement, the connection is as good as before.
    isBroken = isStatementError(error) ? false : sqlState(error) !== undefined || failureKind(error) !== "final";
    throw error;
  } finally {
    client.off("error", ignore);
    client.release(isBroken);
  }
}
