import { BelayError } from "../errors.ts";
import type { PreparedCommit } from "./prepare-commit.ts";

/**
 * Refuses entries that are much older than what is stored, because expiries and time limits would be wrong.
 *
 * Returns the newest time seen, the commit included. `recount` finds the newest time in the journal itself, and is
 * asked before anything is refused: a store's note of that time may be wrong. Throws `BELAY_CLOCK_BACKWARDS`.
 */
export function checkClock(
  commit: PreparedCommit,
  newestAt: number,
  toleranceMs: number,
  recount: () => number = () => newestAt,
): number {
  let newest = newestAt;
  const isOld = ({ at }: PreparedCommit["entries"][number]): boolean => at < newestAt - toleranceMs;
  if (commit.entries.some(isOld)) {
    newest = Math.min(newestAt, recount());
  }
  for (const { at } of commit.entries) {
    if (at < newest - toleranceMs) {
      throw new BelayError(
        "BELAY_CLOCK_BACKWARDS",
        `The clock says ${shown(at)} and the last stored event says ${shown(newest)}. Nothing was written. ` +
          "Set this machine's clock right (time synchronisation), or wait until it has passed the last event. " +
          "belay doctor says which run that event is of.",
      );
    }
    newest = Math.max(newest, at);
  }
  return newest;
}

function shown(at: number): string {
  const date = new Date(at);
  return Number.isNaN(date.getTime()) ? `${at} ms` : date.toISOString();
}
