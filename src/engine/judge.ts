import { argsHash } from "../approval/index.ts";
import type { CallState, Decision, RunEvent, RunState } from "../core/index.ts";
import { decideCall, type RuleCall, type RuleContext } from "../policy/index.ts";
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

async function judgeForeign(context: EngineContext, session: Session, call: CallState): Promise<readonly RunEvent[]> {
  return await (await import("./rejudge.ts")).judgeForeign(context, session, call);
}

/** Judges a call again that a person has approved; loaded with the first answer. */
export async function rejudgeCall(
  context: EngineContext,
  session: Session,
  call: CallState,
): Promise<readonly RunEvent[]> {
  return await (await import("./rejudge.ts")).rejudgeCall(context, session, call);
}

export function judgeNow(
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

export function askRules(
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

export function withGate(context: EngineContext, decision: Decision): Decision {
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

export function ruleCall(context: EngineContext, { call }: CallState): RuleCall {
  const level = context.contracts.get(call.tool)?.level ?? "irreversible";
  return { callId: call.callId, tool: call.tool, args: call.args, level };
}

export function ruleContext(
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
