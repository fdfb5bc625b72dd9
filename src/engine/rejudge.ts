import type { CallState, Decision, RunEvent } from "../core/index.ts";
import type { EngineContext } from "./context.ts";
import type { Session } from "./session.ts";

/**
 * A call that was asked for under other tool contracts is checked again first: its tool may be gone, take other
 * arguments now, or have become one that changes the world.
 */
export async function judgeForeign(
  context: EngineContext,
  session: Session,
  call: CallState,
): Promise<readonly RunEvent[]> {
  const changed = await toolChangedEvent(context, call);
  return changed === undefined ? await context.kit.judgeNow(context, session, call) : [changed];
}

/** The event that refuses a call whose tool is not the one it was asked of, or `undefined`. */
export async function toolChangedEvent(context: EngineContext, call: CallState): Promise<RunEvent | undefined> {
  const { callId, tool, args, effect } = call.call;
  const contract = context.contracts.get(tool);
  const isSame =
    contract !== undefined &&
    (contract.recovery === "read") === (effect === "read") &&
    (await context.executor.check(tool, args)).ok;
  if (isSame) return undefined;
  const message = `${tool} changed after this call was asked for; ask again`;
  const error = { code: "tool_changed", message, retryable: true };
  return { type: "call.settled", callId, outcome: { status: "refused", error } };
}

/**
 * Judges a call again that a person has approved, on today's world.
 *
 * The yes covers the arguments and the tool that the person saw: other arguments are refused, and a tool that changed
 * meanwhile is a new question, if the rules still let the call through.
 */
export async function rejudgeCall(
  context: EngineContext,
  session: Session,
  call: CallState,
): Promise<readonly RunEvent[]> {
  const { askRules, core, tamperedEvent, withGate } = context.kit;
  const { guards } = context.controls;
  const { callId, tool, args } = call.call;
  const { approval } = call;
  if (
    approval !== undefined &&
    guards.has("approval_expiry") &&
    context.clock.now() >= core.answerHoldsUntil(approval)
  ) {
    return [{ type: "approval.expired", callId, approvalId: approval.approvalId }];
  }
  const tampered = tamperedEvent(context, session, call);
  if (tampered !== undefined) return [tampered];
  const contract = context.contracts.get(tool);
  const isChanged = guards.has("approval_integrity") && contract?.contractHash !== call.approval?.contractHash;
  if (isChanged && (contract === undefined || !(await context.executor.check(tool, args)).ok)) {
    const reason = contract === undefined ? `${tool} no longer exists` : `${tool} no longer takes these arguments`;
    const decision: Decision = { verdict: "deny", code: "CONTRACT", reason, ruleId: "belay.contract" };
    return [{ type: "call.decided", callId, decision, recheck: true }];
  }
  const ruled = guards.has("approval_recheck")
    ? withGate(context, await askRules(context, session, call, true))
    : ({ verdict: "allow", code: "OK", reason: "a person approved it", ruleId: "belay.approved" } as const);
  const letsThrough = ruled.verdict === "allow" || ruled.verdict === "ask";
  if (!isChanged || !letsThrough) return [{ type: "call.decided", callId, decision: ruled, recheck: true }];
  const asksAgain: Decision = {
    ...ruled,
    verdict: "ask",
    code: ruled.verdict === "ask" ? ruled.code : "CONTRACT",
    reason: `${tool} changed after the question was asked; ${ruled.reason}`,
  };
  return [{ type: "call.decided", callId, decision: asksAgain, recheck: true, asksAgain: true }];
}
