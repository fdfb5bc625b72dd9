import type { ConstructorOptions, PgBoss } from "pg-boss";
import { BelayError } from "../../errors.ts";
import { loadPeer } from "./load-peer.ts";
import type { PgBossSettings } from "./waker-options.ts";

/** Wakes that are due, or will be soon. Every worker looks into it many times a second, so it has to stay short. */
export const WAKE_QUEUE = "belay-wakes";

/** Wakes of a later day, such as the expiries of a hundred thousand questions. */
export const LATER_QUEUE = "belay-later";

/** Shortest that pg-boss allows; a worker that is silent for so long is taken for dead. */
const HEARTBEAT_SECONDS = 10;

// A wake must never be given up on and never be thrown away, so every limit of the queue is the largest there is.
const RETRIES_MAX = 2_147_483_647;
const RETENTION_SECONDS = 50 * 365 * 86_400;
const EXPIRE_SECONDS = 86_400;
// How long a worker may take to move what is due; whoever died over it is followed by another.
const MOVE_SECONDS = 30;

/** A connection to pg-boss's tables, made at the first use and again after a failure. */
export interface Boss {
  /** Throws `BELAY_PEER_MISSING` without the package; connects nothing. */
  load(): Promise<void>;
  /** Throws `BELAY_WAKER_FAILED` when PostgreSQL does not answer. */
  use<Value>(what: string, work: (boss: PgBoss) => Promise<Value>): Promise<Value>;
  close(): Promise<void>;
}

export function createBoss(settings: PgBossSettings): Boss {
  let opening: Promise<PgBoss> | undefined;
  let isClosed = false;
  const open = async (): Promise<PgBoss> => {
    const { PgBoss } = await loadBoss();
    const boss = new PgBoss(bossOptions(settings));
    // Without a listener a broken connection would end the process.
    boss.on("error", (cause) => settings.onAlarm({ code: "WAKER_UNREACHABLE", cause }));
    try {
      await boss.start();
      await ensureQueues(boss);
      return boss;
    } catch (error) {
      await boss.stop({ graceful: false }).catch(() => undefined);
      throw error;
    }
  };
  return {
    async load() {
      await loadBoss();
    },
    async use(what, work) {
      if (isClosed) {
        throw new BelayError("BELAY_WAKER_CLOSED", `${what}: this waker is closed; make a new one`);
      }
      opening ??= open().catch((error: unknown) => {
        opening = undefined;
        throw error;
      });
      try {
        return await work(await opening);
      } catch (cause) {
        throw failure(what, cause);
      }
    },
    async close() {
      isClosed = true;
      const boss = await opening?.catch(() => undefined);
      await boss?.stop({ graceful: false });
    },
  };
}

/** Loaded at the first use: whoever has only the store need not install it. */
function loadBoss(): Promise<typeof import("pg-boss")> {
  return loadPeer("A waker on PostgreSQL", () => import("pg-boss"));
}

function bossOptions({ connectionString, schema, connectionsMax, timeoutMs }: PgBossSettings): ConstructorOptions {
  const options: ConstructorOptions & { readonly query_timeout: number; readonly keepAlive: boolean } = {
    connectionString,
    schema,
    application_name: "belay-waker",
    max: connectionsMax,
    connectionTimeoutMillis: timeoutMs,
    // Of `pg` itself, to which they are passed on: a cut network must not leave a statement waiting for ever.
    query_timeout: timeoutMs,
    keepAlive: true,
    // Whoever serves supervises; a process that only sends need not.
    supervise: false,
    monitorIntervalSeconds: 1,
    schedule: false,
    registerInstance: false,
    reindex: false,
    monitorVacuum: false,
    openTelemetry: { enabled: false },
  };
  return options;
}

async function ensureQueues(boss: PgBoss): Promise<void> {
  const there = (await boss.getQueues([WAKE_QUEUE, LATER_QUEUE])).map(({ name }) => name);
  const forEver = { retryLimit: RETRIES_MAX, retentionSeconds: RETENTION_SECONDS, warningQueueSize: RETRIES_MAX };
  // Two processes may start at once; making a queue that is there already changes nothing.
  if (!there.includes(WAKE_QUEUE)) {
    await boss.createQueue(WAKE_QUEUE, {
      ...forEver,
      // With the run as key: at most one wake of a run is active, on whatever machine.
      policy: "singleton",
      // The pause before the next delivery is chosen wake by wake.
      retryDelay: 0,
      heartbeatSeconds: HEARTBEAT_SECONDS,
      expireInSeconds: EXPIRE_SECONDS,
    });
  }
  if (!there.includes(LATER_QUEUE)) {
    await boss.createQueue(LATER_QUEUE, { ...forEver, retryDelay: 1, expireInSeconds: MOVE_SECONDS });
  }
}

/** SQLSTATE of a statement that the user has no right to. */
const MAY_NOT = "42501";

/** The text of an exception may name hosts and users, so only its code is shown. */
function failure(what: string, cause: unknown): BelayError {
  if (cause instanceof BelayError) {
    return cause;
  }
  const code = codeOf(cause);
  const detail = code === undefined ? "PostgreSQL did not do it" : `PostgreSQL did not do it: ${code}`;
  const remedy =
    code === MAY_NOT
      ? "give its user the rights of docs/guides/postgres.md"
      : "check that the server runs and may be reached";
  return new BelayError("BELAY_WAKER_FAILED", `${what}: ${detail}; ${remedy}`, { cause });
}

function codeOf(cause: unknown): string | undefined {
  const code = typeof cause === "object" && cause !== null && "code" in cause ? cause.code : undefined;
  return typeof code === "string" && /^\w{1,40}$/.test(code) ? code : undefined;
}
