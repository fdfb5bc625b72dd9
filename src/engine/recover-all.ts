import type { RunKey } from "../journal/index.ts";
import type { ActiveRuns } from "./active-runs.ts";
import type { EngineContext } from "./context.ts";

const PAGE = 100;

/** Advances every unfinished run of the agent once: what a crash left running, and questions that have expired. */
export async function recoverAll(
  context: EngineContext,
  active: ActiveRuns,
  options: { readonly signal?: AbortSignal },
): Promise<number> {
  let count = 0;
  let after: RunKey | undefined;
  for (;;) {
    const page = await context.store.unfinished(PAGE, after);
    for (const row of page.filter(({ agent }) => agent === context.agent.name)) {
      if (options.signal?.aborted === true) return count;
      count += 1;
      try {
        await active.advance(row, options);
      } catch (cause) {
        // One run that cannot go on must not keep the others from it.
        context.alarm({ code: "RUN_FAILED", run: row, detail: `run ${row.runId} could not go on`, cause });
      }
    }
    after = page.at(-1);
    if (after === undefined) return count;
  }
}
