import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import type { Started } from "./start.ts";

/** Starting a run again is asking for the run that exists, and only whoever started it may. */
export async function checkSameStart(
  context: EngineContext,
  run: RunKey,
  event: Started,
  conversationId: string | undefined,
): Promise<void> {
  const first = (await context.store.read(run))[0]?.event;
  const isSame =
    first?.type === "run.started" &&
    first.input === event.input &&
    first.agent.name === event.agent.name &&
    first.principal.kind === event.principal.kind &&
    first.principal.id === event.principal.id &&
    (conversationId === undefined || first.conversationId === conversationId);
  if (isSame) return;
  throw new context.kit.BelayError(
    "BELAY_RUN_EXISTS",
    `run ${run.runId} exists and is another one; choose another run id`,
  );
}
