import { type CallState, canonicalize, type RunEvent } from "../core/index.ts";
import { LOOKUP_FAILED, type ToolContext, type ToolContract, type ToolResult } from "../tool/index.ts";
import { bounded, isThenable } from "./bounded.ts";
import type { EngineContext } from "./context.ts";
import { judgeInTransaction, tamperedEvent } from "./judge.ts";
import { recordLate } from "./late-outcome.ts";
import { type Settlement, settlementOf, unknownOutcome, worldChangedOutcome } from "./outcome.ts";
import type { Session } from "./session.ts";

/** Failures after which nobody knows whether a changing tool did its work. */
const INDEFINITE: ReadonlySet<string> = new Set(["tool_failed", LOOKUP_FAILED]);

/**
 * The key that the far side may use to drop duplicates: equal for every attempt of a call, different for every other
 * call, and not made of anything the model says.
 */
function idempotencyKey(context: EngineContext, session: Session, call: CallState, attempt: number): string {
  const { tenant, runId } = session.run;
  const key = `${tenant}/${runId}/${call.call.callId}`;
  return context.controls.guards.has("stable_key")
    ? (call.idempotencyKey ?? key)
    : `${key}/${attempt}/${context.newId("rsv")}`;
}

/** What must be recorded before a call's effect, or instead of it. */
export function startCall(context: EngineContext, session: Session, call: CallState, fence: number): RunEvent {
  const tampered = tamperedEvent(context, session, call);
  if (tampered !== undefined) return tampered;
  const contract = context.contracts.get(call.call.tool);
  if (contract === undefined) {
    const error = { code: "unknown_tool", message: `${call.call.tool} no longer exists`, retryable: false };
    return { type: "call.settled", callId: call.call.callId, outcome: { status: "refused", error } };
  }
  const attempt = call.attempt + 1;
  return {
    type: "call.started",
    callId: call.call.callId,
    attempt,
    idempotencyKey: idempotencyKey(context, session, call, attempt),
    recovery: contract.recovery,
    fence,
  };
}

/** Starts of one keyed call that this worker makes by itself before it says "unknown". */
const KEYED_ATTEMPTS_MAX = 2;

export type Executed =
  | { readonly kind: "settled"; readonly settlement: Settlement }
  /** The attempt left no outcome and may be repeated under the same key. */
  | { readonly kind: "again" };

/** Runs a call whose intent is recorded (or a read, which needs none) and says what to record. Never rejects. */
export async function executeCall(
  context: EngineContext,
  session: Session,
  call: CallState,
  signal: AbortSignal,
): Promise<Executed> {
  const { callId, tool } = call.call;
  const contract = context.contracts.get(tool);
  if (contract === undefined) return { kind: "again" };
  const startedAt = context.clock.now();
  const settle = (result: ToolResult): Settlement =>
    settlementOf(context, session, contract, callId, result, {
      ...attemptOf(call),
      durationMs: context.clock.now() - startedAt,
    });
  if (contract.inTransaction) {
    return { kind: "settled", settlement: executeInTransaction(context, session, call, contract, signal, settle) };
  }
  const ended = await bounded(
    async (inner) =>
      soundResult(
        await context.executor.execute(
          tool,
          structuredClone(call.call.args),
          toolContext(context, session, call, inner),
        ),
      ),
    {
      timeoutMs: contract.timeoutMs,
      signal,
      // A cancelled run still waits for what changes the world, so that its outcome is known.
      waitsWhenAborted: contract.recovery !== "read",
      onLate: (result) => recordLate(context, session.run, call, settle(result).event),
    },
  );
  if (
    ended.status === "done" &&
    (ended.value.ok || contract.recovery === "read" || !INDEFINITE.has(ended.value.error.code))
  ) {
    return { kind: "settled", settlement: settle(ended.value) };
  }
  if (ended.status === "failed") {
    const detail = `call ${callId}: the executor threw`;
    context.alarm({ code: "TOOL_FAILED", run: session.run, detail, cause: ended.error });
  }
  return await afterIndefinite(context, session, call, contract, signal, ended.status, settle);
}

function attemptOf(call: CallState): { readonly attempt?: number } {
  return call.attempt === 0 ? {} : { attempt: call.attempt };
}

/** What an executor gave, or, for anything that is no result, a failure that leaves the outcome open. */
function soundResult(result: unknown): ToolResult {
  if (typeof result === "object" && result !== null && "ok" in result) {
    if (result.ok === true && "value" in result && canonicalize(result.value).ok) return result as ToolResult;
    if (result.ok === false && "error" in result && isError(result.error)) return result as ToolResult;
  }
  return { ok: false, error: { code: "tool_failed", message: "the tool gave no result", retryable: false } };
}

function isError(error: unknown): boolean {
  return typeof error === "object" && error !== null && "code" in error && typeof error.code === "string";
}

/** The tool may or may not have done its work: ask the far side where that is possible, otherwise say so. */
async function afterIndefinite(
  context: EngineContext,
  session: Session,
  call: CallState,
  contract: ToolContract,
  signal: AbortSignal,
  how: "done" | "failed" | "timeout" | "aborted",
  settle: (result: ToolResult) => Settlement,
): Promise<Executed> {
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

/** Thrown to roll a transaction back and carry the result out of it. */
class Rollback extends Error {
  readonly settlement: Settlement;
  constructor(settlement: Settlement) {
    super("rolled back");
    this.settlement = settlement;
  }
}

/**
 * One transaction of the world: an earlier attempt's outcome, or the rules once more and then the tool.
 *
 * The earlier attempt comes first, because its own effect may be what makes the rules say no today.
 */
function executeInTransaction(
  context: EngineContext,
  session: Session,
  call: CallState,
  contract: ToolContract,
  signal: AbortSignal,
  settle: (result: ToolResult) => Settlement,
): Settlement {
  const { callId, tool, args } = call.call;
  const { transaction } = context.agent;
  const toolInput = toolContext(context, session, call, signal);
  try {
    if (transaction === undefined) throw new TypeError(`${contract.name} needs the agent's transaction`);
    return transaction(() => {
      const earlier = now(context.executor.lookup(tool, args, toolInput));
      if (earlier !== undefined) return settle(earlier);
      const refusal = judgeInTransaction(context, session, call);
      if (refusal !== undefined) {
        const outcome = worldChangedOutcome(refusal.code, refusal.reason);
        throw new Rollback({ event: { type: "call.settled", callId, outcome, ...attemptOf(call) } });
      }
      const result = now(context.executor.execute(tool, args, toolInput));
      const settlement = settle(result);
      if (!result.ok) throw new Rollback(settlement);
      return settlement;
    });
  } catch (error) {
    if (error instanceof Rollback) return error.settlement;
    context.alarm({ code: "TOOL_FAILED", run: session.run, detail: `transaction of call ${callId}`, cause: error });
    return afterBrokenTransaction(context, call, toolInput, settle);
  }
}

/** The transaction threw: it was rolled back, unless the commit itself went wrong after the fact. */
function afterBrokenTransaction(
  context: EngineContext,
  call: CallState,
  toolInput: ToolContext,
  settle: (result: ToolResult) => Settlement,
): Settlement {
  const { callId, tool, args } = call.call;
  try {
    const found = now(context.executor.lookup(tool, args, toolInput));
    if (found !== undefined) return settle(found);
    const message = "the world could not be changed; nothing was done";
    return settle({ ok: false, error: { code: "transaction_failed", message, retryable: true } });
  } catch {
    const outcome = unknownOutcome("the transaction failed and the world cannot be read");
    return { event: { type: "call.settled", callId, outcome, ...attemptOf(call) } };
  }
}

/** A tool of a transaction answers at once; a promise would let other work in between. */
function now<Value>(value: Value | Promise<Value>): Value {
  if (isThenable(value)) {
    value.then(undefined, () => undefined);
    throw new TypeError("a tool with inTransaction must be synchronous");
  }
  return value;
}

function toolContext(context: EngineContext, session: Session, call: CallState, signal: AbortSignal): ToolContext {
  const { tenant, runId } = session.run;
  return {
    runId,
    tenant,
    principal: { ...session.state.principal },
    callId: call.call.callId,
    idempotencyKey: call.idempotencyKey ?? `${tenant}/${runId}/${call.call.callId}`,
    attempt: Math.max(1, call.attempt),
    now: context.clock.now(),
    signal,
  };
}
