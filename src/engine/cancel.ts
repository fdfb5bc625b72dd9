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
  const isDriven = active.interrupt(run);
  const waker = context.waker();
  if (!isDriven) await active.advance(run, { isUrgent: true });
  // Its driver may have had its last look already. What fails here is left to recovery, like any run without a worker.
  else if (waker === undefined) active.advance(run, { isUrgent: true }).catch(() => undefined);
  await waker?.wake({ run, why: "message", key: `${run.tenant}/${run.runId}:cancel` });
  return "recorded";
}

/** The cancellation is durable, so that another worker which drives the run sees it too: it waits for the first record. */
export async function cancelRecorded(
  cancel: (run: RunKey, by: Principal) => Promise<unknown>,
  run: RunKey,
  entries: AsyncIterable<unknown>,
): Promise<void> {
  for await (const _first of entries) {
    await cancel(run, { kind: "system", id: "abort" });
    return;
  }
}
