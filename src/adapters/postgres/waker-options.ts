import { type Clock, systemClock } from "../../clock.ts";
import type { Wake } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import { quietly } from "../../tool/index.ts";

export interface PgBossWakerOptions {
  /** `postgres://user:password@host:port/database`. It appears in no message and no record. */
  readonly connectionString: string;
  /** Schema of pg-boss's own tables; made when it is not there. Default `belay_wakes`. */
  readonly schema?: string;
  /** Longest pause before a wake whose handler threw comes again. Default 15,000. */
  readonly redeliveryMs?: number;
  /** Runs advanced at once by one `serve`. Default 8. */
  readonly concurrency?: number;
  /** How often to look for wakes of other processes. Default 100. */
  readonly pollMs?: number;
  /** Connections of this process. Default 4. */
  readonly connectionsMax?: number;
  /** After how long a statement or a connection that does not answer has failed. Default 10,000. */
  readonly timeoutMs?: number;
  readonly clock?: Clock;
  /** Told of what a person should look at; without it such things pass in silence. */
  readonly onAlarm?: (alarm: PgBossAlarm) => void;
}

/** What a person should look at: a wake that fails again and again, or a database that does not answer. */
export type PgBossAlarm =
  | { readonly code: "WAKE_STUCK"; readonly wake: Wake; readonly attempts: number; readonly cause?: unknown }
  | { readonly code: "WAKER_UNREACHABLE"; readonly cause?: unknown };

export interface PgBossSettings {
  readonly connectionString: string;
  readonly schema: string;
  readonly redeliveryMs: number;
  readonly concurrency: number;
  readonly pollMs: number;
  readonly connectionsMax: number;
  readonly timeoutMs: number;
  readonly clock: Clock;
  readonly onAlarm: (alarm: PgBossAlarm) => void;
}

// What pg-boss takes as the name of a schema: an identifier of PostgreSQL that needs no quotes.
const SCHEMA = /^[a-z_][a-z0-9_]{0,49}$/;

/** Fills in the defaults; throws `BELAY_WAKER_INVALID` for what cannot work, and never shows the connection string. */
export function settingsOf(options: PgBossWakerOptions): PgBossSettings {
  const { connectionString, schema = "belay_wakes" } = options;
  if (!URL.canParse(connectionString) || !/^postgres(ql)?:$/.test(new URL(connectionString).protocol)) {
    throw invalid(
      "connectionString is not an address of PostgreSQL; write postgres://user:password@host:port/database",
    );
  }
  if (!SCHEMA.test(schema)) {
    throw invalid(`schema ${JSON.stringify(schema)} is no plain name; use lower case letters, digits and underscores`);
  }
  return {
    connectionString,
    schema,
    redeliveryMs: positive("redeliveryMs", options.redeliveryMs ?? 15_000),
    concurrency: positive("concurrency", options.concurrency ?? 8),
    pollMs: positive("pollMs", options.pollMs ?? 100),
    connectionsMax: positive("connectionsMax", options.connectionsMax ?? 4),
    timeoutMs: positive("timeoutMs", options.timeoutMs ?? 10_000),
    clock: options.clock ?? systemClock,
    // A hook that throws must not end the worker that calls it.
    onAlarm: quietly(options.onAlarm),
  };
}

function positive(name: string, value: number): number {
  if (!Number.isSafeInteger(value) || value < 1) {
    throw invalid(`${name} is ${value}; give a whole number from 1 up`);
  }
  return value;
}

function invalid(message: string): BelayError {
  return new BelayError("BELAY_WAKER_INVALID", message);
}
