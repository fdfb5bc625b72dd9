import type { CallOutcome, CallState } from "../core/index.ts";
import type { ToolContract, ToolResult } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";
import type { Executed } from "./execute-step.ts";
import type { Settlement } from "./outcome.ts";
import type { Session } from "./session.ts";

/** Starts of one keyed call that this worker makes by itself before it says "unknown". */
const KEYED_ATTEMPTS_MAX = 2;

/** The tool may or may not have done its work: ask the far side where that is possible, otherwise say so. */
export async function afterIndefinite(
  context: EngineContext,
  session: Session,
  call: CallState,
  contract: ToolContract,
  signal: AbortSignal,
  how: "done" | "failed" | "timeout" | "aborted",
  settle: (result: ToolResult) => Settlement,
): Promise<Executed> {
  const { attemptOf } = context.kit;
  const { callId } = call.call;
  const reason =
    how === "timeout"
      ? `no answer within ${contract.timeoutMs} ms`
      : how === "aborted"
        ? "the call was aborted"
        : "the tool failed in the middle";
  if (contract.recovery === "read") {
    const code = how === "timeout" ? "timeout" : how === "aborted" ? "aborted" : "tool_failed";
    return { kind: "settled", settlement: settle({ ok: false, error: { code, message: reason, retryable: true } }) };
  }
  if (how !== "aborted") {
    const found = await lookUp(context, session, call, signal);
    if (found.status === "found") return { kind: "settled", settlement: settle(found.result) };
    // By contract the far side drops what it has done under this key, so one more try is safe.
    if (contract.recovery === "keyed" && call.attempt < KEYED_ATTEMPTS_MAX) return { kind: "again" };
  }
  context.alarm({ code: "OUTCOME_UNKNOWN", run: session.run, detail: `call ${callId}: ${reason}` });
  const event = { type: "call.settled", callId, outcome: unknownOutcome(reason), ...attemptOf(call) } as const;
  return { kind: "settled", settlement: { event } };
}

export type LookedUp =
  | { readonly status: "found"; readonly result: ToolResult }
  | { readonly status: "absent" }
  /** Nobody answered, which says nothing about whether it happened. */
  | { readonly status: "unavailable" };

/** The outcome of an earlier attempt as the far side knows it. Never rejects. */
export async function lookUp(
  context: EngineContext,
  session: Session,
  call: CallState,
  signal: AbortSignal,
): Promise<LookedUp> {
  const { bounded, INDEFINITE, toolContext } = context.kit;
  const { tool, args } = call.call;
  const ended = await bounded(
    (inner) => context.executor.lookup(tool, args, toolContext(context, session, call, inner)),
    {
      timeoutMs: context.contracts.get(tool)?.timeoutMs ?? 1,
      signal,
    },
  );
  if (ended.status !== "done") return { status: "unavailable" };
  if (ended.value === undefined) return { status: "absent" };
  const isClear = ended.value.ok || !INDEFINITE.has(ended.value.error.code);
  return isClear ? { status: "found", result: ended.value } : { status: "unavailable" };
}

/** The outcome of a call of which nobody knows whether it happened. */
export function unknownOutcome(reason: string): CallOutcome {
  const message = `${reason}; nobody knows whether it happened, and it is not repeated`;
  return { status: "unknown", error: { code: "outcome_unknown", message, retryable: false } };
}
