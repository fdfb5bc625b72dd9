import { type CallState, canonicalize, type JsonValue, type RunEvent } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { LOOKUP_FAILED, type ToolContext, type ToolResult } from "../tool/index.ts";
import { type Bounded, bounded } from "./bounded.ts";
import type { EngineContext } from "./context.ts";
import { tamperedEvent } from "./judge.ts";
import { type Settlement, settlementOf } from "./outcome.ts";
import type { Session } from "./session.ts";
import { isThrottled } from "./throttled.ts";

/** Failures after which nobody knows whether a changing tool did its work. */
export const INDEFINITE: ReadonlySet<string> = new Set(["tool_failed", LOOKUP_FAILED]);

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
    ...(contract.recovery === "queryable" ? { overAfterMs: startWithinMs(context) + contract.timeoutMs } : {}),
  };
}

/** At least this long after its record an intent may still be acted on, however short a lease is. */
const START_WITHIN_MS_MIN = 1000;

/**
 * How long after its record an intent may be acted on, in milliseconds. A worker that stood still for longer does not
 * begin: another one may have looked by then, and found nothing. Within a third of a lease the lease still holds.
 */
export function startWithinMs({ leaseMs }: EngineContext): number {
  return Math.max(START_WITHIN_MS_MIN, leaseMs / 3);
}

/** A far side that drops repetitions needs no such care, and a read changes nothing. */
function isTooLate(context: EngineContext, { attempt, recovery, startedAt }: CallState, now: number): boolean {
  if (attempt === 0 || recovery === "read" || recovery === "keyed") return false;
  return now - (startedAt ?? now) > startWithinMs(context);
}

export type Executed =
  | { readonly kind: "settled"; readonly settlement: Settlement }
  /** The attempt left no outcome and may be repeated under the same key. */
  | { readonly kind: "again" };

/** Loaded with the first call that runs in a transaction and kept, because asking the loader costs time in each call. */
let transactions: typeof import("./transaction-step.ts") | undefined;

async function loadTransactions(): Promise<typeof import("./transaction-step.ts")> {
  transactions ??= await import("./transaction-step.ts");
  return transactions;
}

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
  // Before the clock is read: nothing may stand between that look and the effect.
  const transactional = contract.inTransaction ? await loadTransactions() : undefined;
  const startedAt = context.clock.now();
  const settle = (result: ToolResult): Settlement =>
    settlementOf(context, session, contract, callId, result, {
      ...attemptOf(call),
      durationMs: context.clock.now() - startedAt,
    });
  if (isTooLate(context, call, startedAt)) {
    const message = "the process stood still before the tool began; it was not run";
    return {
      kind: "settled",
      settlement: settle({ ok: false, error: { code: "not_started", message, retryable: true } }),
    };
  }
  if (transactional !== undefined) {
    const settlement = transactional.executeInTransaction(context, session, call, contract, signal, settle);
    return { kind: "settled", settlement };
  }
  const attempt = (): Promise<Bounded<ToolResult>> =>
    bounded(
      async (inner) =>
        soundResult(
          await context.executor.execute(tool, copyOf(call.call.args), toolContext(context, session, call, inner)),
        ),
      {
        timeoutMs: contract.timeoutMs,
        signal,
        // A cancelled run still waits for what changes the world, so that its outcome is known.
        waitsWhenAborted: contract.recovery !== "read",
        onLate: (result) => recordLate(context, session.run, call, settle(result)),
      },
    );
  const first = await attempt();
  // Loaded only when a far side is busy.
  const ended = isThrottled(first, contract.recovery)
    ? await (await import("./trouble.ts")).untilTaken(context.kit, first, attempt, { ...contract, signal })
    : first;
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
  // Needed only when something went wrong, and loaded then.
  const { afterIndefinite } = await import("./trouble.ts");
  return await afterIndefinite(context, session, call, contract, signal, ended.status, settle);
}

/** Loaded only for what a tool still did after it was given up. */
function recordLate(context: EngineContext, run: RunKey, call: CallState, { event }: Settlement): void {
  import("./trouble.ts")
    .then((late) => late.recordLate(context, run, call, event))
    .catch((cause: unknown) => {
      const detail = `late outcome of ${call.call.callId} was not recorded`;
      context.alarm({ code: "OUTCOME_DIFFERS", run, detail, cause });
    });
}

/** Which attempt of a call an outcome belongs to; a call that needed no intent has none. */
export function attemptOf(call: CallState): { readonly attempt?: number } {
  return call.attempt === 0 ? {} : { attempt: call.attempt };
}

/** A copy of its own for each attempt, because a tool may write into what it is given. */
function copyOf(args: JsonValue): JsonValue {
  return JSON.parse(JSON.stringify(args)) as JsonValue;
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

export function toolContext(
  context: EngineContext,
  session: Session,
  call: CallState,
  signal: AbortSignal,
): ToolContext {
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
