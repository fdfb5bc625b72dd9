import { argsHash } from "../approval/index.ts";
import { type CallState, type Decision, isCovered, type RunEvent, type RunState } from "../core/index.ts";
import { decideCall, decideCallSync, type RuleCall, type RuleContext } from "../policy/index.ts";
import { bounded, isThenable } from "./bounded.ts";
import type { EngineContext } from "./context.ts";
import type { Session } from "./session.ts";

/** Rules read a database at most; what takes longer is stuck. */
const RULES_TIMEOUT_MS = 30_000;
const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/** Judges a call by the agent's rules and says what to record. */
export function judgeCall(
  context: EngineContext,
  session: Session,
  call: CallState,
): readonly RunEvent[] | Promise<readonly RunEvent[]> {
  return call.step <= session.tools.foreignStep
    ? judgeForeign(context, session, call)
    : judgeNow(context, session, call);
}

/**
 * A call that was asked for under other tool contracts is checked again first: its tool may be gone, take other
 * arguments now, or have become one that changes the world.
 */
async function judgeForeign(context: EngineContext, session: Session, call: CallState): Promise<readonly RunEvent[]> {
  const changed = await toolChangedEvent(context, call);
  return changed === undefined ? await judgeNow(context, session, call) : [changed];
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

function judgeNow(
  context: EngineContext,
  session: Session,
  call: CallState,
): readonly RunEvent[] | Promise<readonly RunEvent[]> {
  const ruled = askRules(context, session, call, false);
  const finish = (decision: Decision): readonly RunEvent[] => [
    { type: "call.decided", callId: call.call.callId, decision: withGate(context, decision) },
  ];
  return isThenable(ruled) ? ruled.then(finish) : finish(ruled);
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
  const { guards } = context.controls;
  const { callId, tool, args } = call.call;
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

function askRules(
  context: EngineContext,
  session: Session,
  call: CallState,
  isRecheck: boolean,
): Decision | Promise<Decision> {
  const onError = (ruleId: string, cause: unknown): void =>
    context.alarm({
      code: "POLICY_ERROR",
      run: session.run,
      detail: `rule ${ruleId} on call ${call.call.callId}`,
      cause,
    });
  const { rules } = context.controls;
  const ruled = decideCall(rules, ruleCall(context, call), ruleContext(context, session, call, isRecheck), { onError });
  return isThenable(ruled) ? inTime(ruled) : ruled;
}

/** A rule that never answers must not hold a call for ever; no answer is no permission. */
async function inTime(ruled: Promise<Decision>): Promise<Decision> {
  const ended = await bounded(() => ruled, { timeoutMs: RULES_TIMEOUT_MS, signal: NEVER_ABORTED });
  if (ended.status === "done") return ended.value;
  const reason = `the rules gave no verdict within ${RULES_TIMEOUT_MS} ms`;
  return { verdict: "deny", code: "POLICY_ERROR", reason, ruleId: "belay.timeout" };
}

function withGate(context: EngineContext, decision: Decision): Decision {
  return decision.verdict === "ask" && !context.controls.guards.has("approval_gate")
    ? { ...decision, verdict: "allow" }
    : decision;
}

/** The event that refuses a call whose stored arguments are not those that a person approved. */
export function tamperedEvent(context: EngineContext, session: Session, call: CallState): RunEvent | undefined {
  if (call.approval === undefined || !context.controls.guards.has("approval_integrity")) return undefined;
  const { callId, tool, args } = call.call;
  if (argsHash(tool, args) === call.approval.argsHash) return undefined;
  context.alarm({ code: "STATE_TAMPERED", run: session.run, detail: `call ${callId} is not what was approved` });
  const message = "the stored arguments are not those that were approved; nothing was run";
  return {
    type: "call.settled",
    callId,
    outcome: { status: "refused", error: { code: "state_tampered", message, retryable: false } },
  };
}

/** The rules once more, inside the transaction of the effect; `undefined` when they still let the call through. */
export function judgeInTransaction(context: EngineContext, session: Session, call: CallState): Decision | undefined {
  if (!context.controls.guards.has("transaction_recheck")) return undefined;
  const isRecheck = call.approval?.approvedBy !== undefined;
  const ruled = decideCallSync(
    context.controls.rules,
    ruleCall(context, call),
    ruleContext(context, session, call, isRecheck),
  );
  const decision = withGate(context, ruled);
  if (decision.verdict === "allow") return undefined;
  return decision.verdict === "ask" && isRecheck && isCovered(call, decision) ? undefined : decision;
}

function ruleCall(context: EngineContext, { call }: CallState): RuleCall {
  const level = context.contracts.get(call.tool)?.level ?? "irreversible";
  return { callId: call.callId, tool: call.tool, args: call.args, level };
}

function ruleContext(
  context: EngineContext,
  session: Session,
  call: CallState,
  recheck: boolean,
): Omit<RuleContext, "read"> {
  const { state } = session;
  return {
    tenant: state.tenant,
    principal: { ...state.principal },
    runId: session.run.runId,
    step: state.step,
    input: state.input,
    memory: state.memory,
    calls: otherCalls(state, call.call.callId),
    now: context.clock.now(),
    recheck,
  };
}

function otherCalls(state: RunState, callId: string): readonly CallState[] {
  if (state.turn.length === 1) return state.earlierCalls;
  return [...state.earlierCalls, ...state.turn.filter((other) => other.call.callId !== callId)];
}
