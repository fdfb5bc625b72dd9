import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import type { StartOptions } from "./harness.ts";
import { checkSameStart } from "./same-start.ts";
import type { PreparedStart } from "./start.ts";

/** Writes the first event of a run; starting the same run twice leaves the first. */
export async function startRun(context: EngineContext, input: string, options: StartOptions): Promise<RunKey> {
  const start = await context.kit.prepareStart(context, input, options);
  await writeStart(context, start);
  return start.run;
}

/** Writes what was prepared. Throws BELAY_RUN_EXISTS when the name belongs to another run. */
export async function writeStart(context: EngineContext, start: PreparedStart): Promise<void> {
  const { run, events, conversationId } = start;
  const at = context.clock.now();
  const entries = events.map((event) => ({ at, event }));
  const result = await context.store.commit({ run, head: 0, entries });
  if (result.status === "conflict") {
    await checkSameStart(context, run, events[0], conversationId);
  } else if (result.status === "committed") {
    context.publish(
      run,
      entries.map((entry, index) => ({ ...entry, seq: index + 1, schema: context.kit.core.EVENT_SCHEMA })),
    );
  }
}
