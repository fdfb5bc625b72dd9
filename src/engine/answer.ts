import { refusalToDecide } from "../approval/index.ts";
import { accepts, type RunEvent } from "../core/index.ts";
import type { ApprovalRow, RunKey } from "../journal/index.ts";
import { appendEvent } from "./append.ts";
import type { EngineContext } from "./context.ts";
import type { DecideOutcome, DecideRequest } from "./harness.ts";

const NOTE_CHARACTERS_MAX = 2000;

/**
 * Records a person's answer by compare-and-set.
 *
 * Whoever loses the race reads on and asks again whether the answer still changes anything; if not, the stored
 * outcome is what they are told. Nothing runs here.
 */
export async function decideApproval(context: EngineContext, request: DecideRequest): Promise<DecideOutcome> {
  const tenant = request.tenant ?? "default";
  const row = await context.store.approval(tenant, request.approvalId);
  if (row === undefined) return { status: "unknown_approval" };
  const refusal = refusalToDecide(request.by, row, context.mayDecide);
  if (refusal !== undefined) return { status: "not_permitted", reason: refusal };
  if (request.argsHash !== undefined && request.argsHash !== row.argsHash) {
    return { status: "digest_mismatch", approval: row };
  }
  const run: RunKey = { tenant, runId: row.runId };
  const resolved = answerEvent(row, request);
  const expired: RunEvent = { type: "approval.expired", callId: row.callId, approvalId: row.approvalId };
  const appended = await appendEvent(context, run, (state, at) =>
    accepts(state, { at, event: expired }).ok ? expired : resolved,
  );
  if (appended.status === "unknown_run") return { status: "unknown_approval" };
  const approval = (await context.store.approval(tenant, row.approvalId)) ?? row;
  if (appended.status === "refused") {
    return approval.status === "expired" ? { status: "expired", approval } : { status: "already_decided", approval };
  }
  await context.waker()?.wake({ run, why: "approval", key: `${tenant}:${row.approvalId}:approval` });
  return appended.event === expired ? { status: "expired", approval } : { status: "recorded", run };
}

function answerEvent(row: ApprovalRow, { answer, by, note }: DecideRequest): RunEvent {
  return {
    type: "approval.resolved",
    callId: row.callId,
    approvalId: row.approvalId,
    answer,
    by,
    argsHash: row.argsHash,
    ...(note === undefined ? {} : { note: note.toWellFormed().slice(0, NOTE_CHARACTERS_MAX) }),
  };
}
