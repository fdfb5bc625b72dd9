import type { DatabaseSync, SQLInputValue, StatementSync } from "node:sqlite";
import { decodeFrontier, encodeFrontier, type Frontier } from "../../audit/index.ts";
import { BelayError } from "../../errors.ts";
import { type Store, storeClosed } from "../../journal/index.ts";
import { LOCK_TIMEOUT_MS, openDatabase } from "./open-database.ts";
import { isBusy, isNumberTooLarge, translateSqliteError } from "./sqlite-error.ts";
import { createWriteQueue } from "./write-queue.ts";

export type SqliteRow = Readonly<Record<string, unknown>>;

/** What all writes of one transaction share. Replaced, never changed in place, so that a refused write leaves no trace. */
export interface WriteSession {
  readonly tree: TreeState;
  setTree(tree: TreeState): void;
}

interface TreeState {
  readonly frontier: Frontier;
  /** Time of the newest entry that the store has seen. */
  readonly newestAt: number;
}

/** One connection to a store's file, shared by everything of this process that uses it. */
export interface SqliteHandle {
  readonly path: string;
  /** First row of a cached statement. */
  get(sql: string, ...values: SQLInputValue[]): SqliteRow | undefined;
  all(sql: string, ...values: SQLInputValue[]): readonly SqliteRow[];
  /** As `all`, and a number that is too large for us comes as the nearest one instead of an error; to find damage. */
  allLoose(sql: string, ...values: SQLInputValue[]): readonly SqliteRow[];
  iterate(sql: string, ...values: SQLInputValue[]): Iterable<SqliteRow>;
  /** Only inside `write`. Returns the number of changed rows. */
  run(sql: string, ...values: SQLInputValue[]): number;
  /** Runs reads and translates what they throw. */
  read<Value>(work: () => Value): Value;
  /** As `read`, and everything is read as it was in one moment. */
  snapshot<Value>(work: () => Value): Value;
  write<Value>(work: (session: WriteSession) => Value): Promise<Value>;
  close(): Promise<void>;
}

export interface HandleOptions {
  readonly groupCommitMs?: number;
  readonly lockTimeoutMs?: number;
}

const handles = new WeakMap<Store, SqliteHandle>();

/** Remembers which connection a store uses, for what else works on the same file. */
export function registerHandle(store: Store, handle: SqliteHandle): void {
  handles.set(store, handle);
}

/** The connection of a SQLite store. Throws `BELAY_STORE_MISMATCH` for a store of another kind. */
export function handleOf(store: Store): SqliteHandle {
  const handle = handles.get(store);
  if (handle === undefined) {
    throw new BelayError(
      "BELAY_STORE_MISMATCH",
      `This needs a store made by openSqliteStore(), not a store of kind ${store.kind}. Pass that store itself.`,
    );
  }
  return handle;
}

export async function openHandle(path: string, options: HandleOptions = {}): Promise<SqliteHandle> {
  const { groupCommitMs = 0, lockTimeoutMs = LOCK_TIMEOUT_MS } = options;
  const database = await openDatabase(path, lockTimeoutMs);
  const statements = createStatements(database);
  const translate = (error: unknown): unknown => translateSqliteError(path, error);
  const sessions = createSessions(statements.prepared);
  const queue = createWriteQueue({ database, groupCommitMs, lockTimeoutMs, translate, ...sessions });
  let closing: Promise<void> | undefined;
  const open = (): void => {
    if (closing !== undefined) {
      throw storeClosed(`store ${path}`);
    }
  };
  const waitWithin = (milliseconds: number): void => database.exec(`PRAGMA busy_timeout = ${milliseconds}`);
  // A write waits without blocking the event loop, and by itself no statement ever waits.
  waitWithin(0);
  const read = <Value>(work: () => Value): Value => {
    open();
    try {
      return work();
    } catch (error) {
      if (!isBusy(error)) {
        throw translate(error);
      }
    }
    // A read meets a lock only while another process recovers the file, which is short.
    waitWithin(lockTimeoutMs);
    try {
      return work();
    } catch (error) {
      throw translate(error);
    } finally {
      waitWithin(0);
    }
  };
  return {
    path,
    ...statements.run,
    read,
    snapshot: (work) => read(() => inSnapshot(database, work)),
    write: async (work) => {
      open();
      return queue.write(work);
    },
    close: () => {
      closing ??= queue.idle().then(() => database.close());
      return closing;
    },
  };
}

function inSnapshot<Value>(database: DatabaseSync, work: () => Value): Value {
  if (database.isTransaction) {
    // A group of writes is about to begin and holds its own moment already.
    return work();
  }
  database.exec("BEGIN");
  try {
    return work();
  } finally {
    database.exec("ROLLBACK");
  }
}

function createStatements(database: DatabaseSync): {
  readonly prepared: (sql: string) => StatementSync;
  readonly run: Pick<SqliteHandle, "get" | "all" | "allLoose" | "iterate" | "run">;
} {
  const cache = new Map<string, StatementSync>();
  const prepared = (sql: string): StatementSync => {
    let statement = cache.get(sql);
    if (statement === undefined) {
      statement = database.prepare(sql);
      cache.set(sql, statement);
    }
    return statement;
  };
  return {
    prepared,
    run: {
      get: (sql, ...values) => prepared(sql).get(...values),
      all: (sql, ...values) => prepared(sql).all(...values),
      allLoose: (sql, ...values) => {
        try {
          return prepared(sql).all(...values);
        } catch (error) {
          if (!isNumberTooLarge(error)) {
            throw error;
          }
        }
        const statement = database.prepare(sql);
        statement.setReadBigInts(true);
        return statement.all(...values).map(toNumbers);
      },
      // Not cached: two walks over one statement would disturb each other.
      iterate: (sql, ...values) => database.prepare(sql).iterate(...values),
      run: (sql, ...values) => Number(prepared(sql).run(...values).changes),
    },
  };
}

function toNumbers(row: SqliteRow): SqliteRow {
  return Object.fromEntries(
    Object.entries(row).map(([column, value]) => [column, typeof value === "bigint" ? Number(value) : value]),
  );
}

/** Reads the state of the tree when a transaction first needs it, and writes it once, however many commits it holds. */
function createSessions(prepared: (sql: string) => StatementSync): {
  readonly begin: () => WriteSession & { readonly changed: () => TreeState | undefined };
  readonly finish: (session: { readonly changed: () => TreeState | undefined }) => void;
} {
  // Decoding is skipped while no other process has written in between.
  let known: { readonly text: string; readonly frontier: Frontier } | undefined;
  const load = (): TreeState => {
    const row = prepared("SELECT frontier, newest_at FROM audit_state WHERE id = 1").get();
    const text = String(row?.["frontier"]);
    known = known?.text === text ? known : { text, frontier: decodeFrontier(text) };
    return { frontier: known.frontier, newestAt: Number(row?.["newest_at"]) };
  };
  return {
    begin: () => {
      let stored: TreeState | undefined;
      let changed: TreeState | undefined;
      return {
        get tree() {
          stored ??= load();
          return changed ?? stored;
        },
        setTree: (tree) => {
          changed = tree;
        },
        changed: () => changed,
      };
    },
    finish: (session) => {
      const tree = session.changed();
      if (tree !== undefined) {
        const { frontier, newestAt } = tree;
        const text = encodeFrontier(frontier);
        prepared("UPDATE audit_state SET size = ?, frontier = ?, newest_at = ? WHERE id = 1").run(
          frontier.size,
          text,
          newestAt,
        );
        known = { text, frontier };
      }
    },
  };
}
