import type { RunEvent } from "../core/index.ts";
import type { ApprovalRow, RunKey } from "../journal/index.ts";
import { appendEvent } from "./append.ts";
import type { EngineContext } from "./context.ts";
import type { DecideOutcome, DecideRequest } from "./harness.ts";
import type { Kit } from "./kit.ts";

const NOTE_CHARACTERS_MAX = 2000;

/**
 * Records a person's answer by compare-and-set.
 *
 * Whoever loses the race reads on and asks again whether the answer still changes anything; if not, the stored
 * outcome is what they are told. Nothing runs here.
 */
export async function decideApproval(context: EngineContext, request: DecideRequest): Promise<DecideOutcome> {
  const { argsHash, core, refusalToDecide } = context.kit;
  checkRequest(context.kit, request);
  const tenant = request.tenant ?? "default";
  const row = await context.store.approval(tenant, request.approvalId);
  if (row === undefined) return { status: "unknown_approval" };
  const run: RunKey = { tenant, runId: row.runId };
  const state = core.fold(await context.store.read(run));
  if (state === undefined) return { status: "unknown_approval" };
  // The inbox is a copy: who asked and what for is what the run's own journal says.
  const refusal = refusalToDecide(request.by, { ...row, requester: state.principal }, context.mayDecide);
  if (refusal !== undefined) return { status: "not_permitted", reason: refusal };
  const shown = argsHash(row.tool, row.args);
  if (shown !== row.argsHash || (request.argsHash !== undefined && request.argsHash !== shown)) {
    if (shown !== row.argsHash) context.alarm({ code: "STATE_TAMPERED", run, detail: `approval ${row.approvalId}` });
    return { status: "digest_mismatch", approval: row };
  }
  return await record(context, request, row, run);
}

async function record(
  context: EngineContext,
  request: DecideRequest,
  row: ApprovalRow,
  run: RunKey,
): Promise<DecideOutcome> {
  const resolved = answerEvent(row, request);
  const expired: RunEvent = { type: "approval.expired", callId: row.callId, approvalId: row.approvalId };
  const { core } = context.kit;
  const appended = await appendEvent(context, run, (state, at) =>
    core.accepts(state, { at, event: expired }).ok ? expired : resolved,
  );
  if (appended.status === "unknown_run") return { status: "unknown_approval" };
  const approval = (await context.store.approval(run.tenant, row.approvalId)) ?? row;
  if (appended.status === "refused") {
    return approval.status === "expired" ? { status: "expired", approval } : { status: "already_decided", approval };
  }
  await context.waker()?.wake({ run, why: "approval", key: `${run.tenant}/${row.approvalId}:approval` });
  return appended.event === expired ? { status: "expired", approval } : { status: "recorded", run };
}

/** Types are gone at run time; a decision about money is checked there too. Throws BELAY_DECISION_INVALID. */
function checkRequest({ BelayError }: Kit, { answer, by, note }: DecideRequest): void {
  const isAnswer = answer === "approved" || answer === "rejected";
  const isPrincipal =
    typeof by === "object" &&
    by !== null &&
    typeof by.kind === "string" &&
    typeof by.id === "string" &&
    by.id.trim() !== "";
  if (isAnswer && isPrincipal && (note === undefined || typeof note === "string")) return;
  throw new BelayError(
    "BELAY_DECISION_INVALID",
    "a decision is 'approved' or 'rejected' by a principal { kind, id } with a name; nothing was recorded",
  );
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
