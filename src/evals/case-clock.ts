import type { Clock } from "../clock.ts";
import { BelayError } from "../errors.ts";
import type { Fault } from "./suite.ts";

/** A clock that stands still until somebody moves it, so that a case gives the same result on every machine. */
export interface CaseClock extends Clock {
  advanceTo(time: number): void;
  /** Lets milliseconds go by. */
  pass(ms: number): void;
  /** Makes a fault of kind `clock`; returns false for any other kind. */
  applyFault(fault: Fault): boolean;
}

/**
 * Makes the clock of one case, which starts at `start` in milliseconds since the epoch.
 *
 * The fault kind `clock` belongs to the runner, not to the app: `advanceMs` moves the clock once, `perReadingMs` with
 * every reading from then on, which makes a run use up its time.
 */
export function createCaseClock(start: number): CaseClock {
  let time = start;
  let perReadingMs = 0;
  return {
    now: () => {
      time += perReadingMs;
      return time;
    },
    advanceTo: (later) => {
      time = Math.max(time, later);
    },
    pass: (ms) => {
      time += ms;
    },
    applyFault: (fault) => {
      if (fault.kind !== "clock") {
        return false;
      }
      time += milliseconds(fault, "advanceMs");
      perReadingMs = milliseconds(fault, "perReadingMs");
      return true;
    },
  };
}

function milliseconds(fault: Fault, name: string): number {
  const value = fault[name] ?? 0;
  if (typeof value !== "number" || !(value >= 0)) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `The clock fault has ${name} ${JSON.stringify(value)}. Give milliseconds from 0.`,
    );
  }
  return value;
}
