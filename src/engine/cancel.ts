import type { Principal } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import type { ActiveRuns } from "./active-runs.ts";
import { appendEvent } from "./append.ts";
import type { EngineContext } from "./context.ts";

const NOTE_CHARACTERS_MAX = 2000;

export type CancelOutcome = "recorded" | "already_ended" | "unknown_run";

/** Records that a run is to end, and ends it. */
export async function cancelRun(
  context: EngineContext,
  active: ActiveRuns,
  run: RunKey,
  by: Principal,
  note: string | undefined,
): Promise<CancelOutcome> {
  const noted = note === undefined ? {} : { note: note.toWellFormed().slice(0, NOTE_CHARACTERS_MAX) };
  const appended = await appendEvent(context, run, () => ({ type: "run.cancel_requested", by, ...noted }));
  if (appended.status === "refused") return "already_ended";
  if (appended.status === "unknown_run") return "unknown_run";
  // Who drives it here is told at once; a run that nobody drives is ended here, so that its questions close.
  if (!active.interrupt(run)) await active.advance(run, { isUrgent: true });
  await context.waker()?.wake({ run, why: "message", key: `${run.tenant}/${run.runId}:cancel` });
  return "recorded";
}
