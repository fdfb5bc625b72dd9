import { setTimeout as sleep } from "node:timers/promises";
import type { Harness, RunResult } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey } from "../journal/index.ts";

// The engine's default lease: after this time a silent holder may be replaced, so waiting longer is of no use.
const LEASE_MS = 15_000;
const RETRY_MS = 250;

/**
 * Goes on with a run until it ends or waits.
 *
 * While another process has the run it tries again, for as long as a lease lasts. Throws `BELAY_RUN_BUSY` after that.
 */
export async function goOn(
  harness: Harness,
  run: RunKey,
  signal: AbortSignal,
  waitMs: number = LEASE_MS,
): Promise<RunResult> {
  for (let waited = 0; ; waited += RETRY_MS) {
    const result = await harness.advance(run, { signal });
    if (result.status !== "busy") {
      return result;
    }
    if (waited >= waitMs || signal.aborted) {
      throw new BelayError(
        "BELAY_RUN_BUSY",
        `Another process is working on the run ${run.runId}. Nothing is lost; it goes on there, or run belay recover later.`,
      );
    }
    await sleep(RETRY_MS);
  }
}
