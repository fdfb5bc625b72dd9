import { BelayError } from "../../errors.ts";
import { CLOCK_TOLERANCE_MS } from "../../journal/index.ts";
import { SCHEMA_NAME } from "./schema.ts";

/** The part of `pg`'s `Pool` that a store uses. */
export interface PostgresPool {
  readonly options: object;
  connect(): Promise<PostgresClient>;
  end(): Promise<void>;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

/** The part of `pg`'s pooled client that a store uses. */
export interface PostgresClient {
  query(config: object): Promise<{ readonly rows: unknown[]; readonly command?: string }>;
  release(isBroken?: boolean): void;
  on(event: "error", listener: (error: Error) => void): unknown;
  off(event: "error", listener: (error: Error) => void): unknown;
}

interface CommonOptions {
  /** Schema of the tables, made when it is not there. Default `belay`. */
  readonly schema?: string;
  /** Whether to make the tables when they are not there; default true. With false they must be. */
  readonly create?: boolean;
  /**
   * Whether this process may number the audit records; default true. One process at a time does; with none, records
   * are numbered when somebody reads the audit log.
   */
  readonly sequencer?: boolean;
  /** How much older than the newest entry of its run a commit may be. Default 60,000. */
  readonly clockToleranceMs?: number;
  /** How long a statement waits for a row that another transaction holds. Default 5,000. */
  readonly lockTimeoutMs?: number;
  /**
   * Takes a server that can lose or tear what it has confirmed when its machine loses power (`fsync = off`,
   * `full_page_writes = off`): for tests of your own. Default false.
   */
  readonly acceptUnsafeServer?: boolean;
}

interface PostgresConnectionOptions extends CommonOptions {
  /** `postgres://user:password@host:port/database`. The password appears in no message. */
  readonly connectionString: string;
  /** Most connections of this process, besides one for the sequencer. Default 10. */
  readonly max?: number;
  /** After how long a server that does not answer counts as lost, such as behind a cut network. Default 30,000. */
  readonly answerTimeoutMs?: number;
  readonly pool?: never;
}

interface PostgresPoolOptions extends CommonOptions {
  /** A pool of `pg` 8 that the caller ends after the store is closed. */
  readonly pool: PostgresPool;
  readonly connectionString?: never;
  readonly max?: never;
  readonly answerTimeoutMs?: never;
}

export type PostgresStoreOptions = PostgresConnectionOptions | PostgresPoolOptions;

export interface PostgresSettings {
  readonly connectionString: string | undefined;
  readonly pool: PostgresPool | undefined;
  /** Names server, database and schema in messages; holds no password. */
  readonly label: string;
  readonly schema: string;
  readonly max: number;
  readonly answerTimeoutMs: number;
  readonly create: boolean;
  readonly sequencer: boolean;
  readonly clockToleranceMs: number;
  readonly lockTimeoutMs: number;
  readonly acceptUnsafeServer: boolean;
}

/** Fills in the defaults. Throws `BELAY_STORE_PATH` for what cannot be an address, a schema or a number. */
export function settingsOf(options: PostgresStoreOptions): PostgresSettings {
  const { schema = "belay", connectionString, pool } = options;
  if (!SCHEMA_NAME.test(schema)) {
    throw unusable(`the schema ${JSON.stringify(schema)} is not a plain name`, "Use lower case letters, digits and _");
  }
  return {
    connectionString,
    pool,
    label: `${addressOf(connectionString)}, schema ${schema}`,
    schema,
    max: positive("max", options.max ?? 10),
    answerTimeoutMs: positive("answerTimeoutMs", options.answerTimeoutMs ?? 30_000),
    create: options.create ?? true,
    sequencer: options.sequencer ?? true,
    clockToleranceMs: options.clockToleranceMs ?? CLOCK_TOLERANCE_MS,
    lockTimeoutMs: positive("lockTimeoutMs", options.lockTimeoutMs ?? 5000),
    acceptUnsafeServer: options.acceptUnsafeServer ?? false,
  };
}

/** Host and database of an address, without user, password or parameters. */
function addressOf(connectionString: string | undefined): string {
  if (connectionString === undefined) {
    return "PostgreSQL";
  }
  if (!URL.canParse(connectionString) || !/^postgres(ql)?:$/.test(new URL(connectionString).protocol)) {
    // Not shown: what is wrong with it may be a password.
    throw unusable("its address is not one of PostgreSQL", "Write postgres://user:password@host:port/database");
  }
  const { host, pathname } = new URL(connectionString);
  return `PostgreSQL ${host}${pathname}`;
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw unusable(`${name} is ${String(value)}`, "Give a whole number from 1");
  }
  return value;
}

function unusable(problem: string, remedy: string): BelayError {
  return new BelayError("BELAY_STORE_PATH", `A PostgreSQL store cannot be opened: ${problem}. ${remedy}.`);
}
