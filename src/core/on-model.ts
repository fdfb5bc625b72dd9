import type { CallOutcome, CallState, PreparedCall, ToolError } from "./call.ts";
import { canonicalize } from "./canonical-json.ts";
import type { ModelOutput, RunEvent, Usage } from "./event.ts";
import { deepFreeze } from "./freeze.ts";
import { limitAfterReply } from "./limit-check.ts";
import { finishTurn } from "./on-call.ts";
import { beginEnding, chargeReservation } from "./on-end.ts";
import { moveTo } from "./phase.ts";
import type { RunState, UsageTotal } from "./run-state.ts";

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

export function onModelRequested(state: RunState, event: EventOf<"model.requested">): RunState {
  const { openRequest, retryAt: _over, ...rest } = state;
  const moved = moveTo(rest, "CALL_MODEL", state.phase === "PLAN" ? "start" : "observe → call model");
  // An open request here is one whose process died: nobody knows what it cost, so its reservation is charged.
  const usage = chargeReservation(state.usage, openRequest);
  return {
    ...moved,
    ...(event.model === undefined ? {} : { model: event.model }),
    step: state.step + 1,
    usage: { ...usage, modelCalls: usage.modelCalls + 1 },
    openRequest: event.reserved,
  };
}

/** Opens the reservation of the model that writes summaries; one left open by a crash is charged first. */
export function onContextSummarising(state: RunState, event: EventOf<"context.summarising">): RunState {
  const { openRequest } = state;
  const usage = chargeReservation(state.usage, openRequest);
  return { ...state, usage, openRequest: event.reserved };
}

/** Older tool results are replaced in the context; the calls themselves stay where they are. */
export function onContextCompacted(state: RunState, event: EventOf<"context.compacted">): RunState {
  const { tokensBefore, tokensAfter, summaries, usage, costNanoUsd } = event;
  const { openRequest, ...rest } = state;
  const charged = chargeReservation(state.usage, openRequest);
  return {
    ...rest,
    usage: usage === undefined ? charged : addUsage(state.usage, usage, costNanoUsd),
    compactions: [...state.compactions, { step: state.step + 1, tokensBefore, tokensAfter, results: summaries.length }],
    summaries: { ...state.summaries, ...Object.fromEntries(summaries.map(({ callId, text }) => [callId, text])) },
  };
}

export function onModelFailed(state: RunState, event: EventOf<"model.failed">): RunState {
  const { openRequest, ...rest } = state;
  const charged = event.notCharged === true ? undefined : openRequest;
  const failed: RunState = { ...rest, usage: chargeReservation(state.usage, charged) };
  const { retryAt, code, detail } = event;
  // A time that is no number would be one that never comes.
  if (!Number.isSafeInteger(retryAt)) return beginEnding(failed, { kind: "model_error", code, detail });
  if (state.ending !== undefined) return failed;
  const [retriesInRow, retries] = [state.retriesInRow + 1, state.retries + 1];
  return { ...failed, retriesInRow, retries, ...(retryAt === undefined ? {} : { retryAt }) };
}

export function onModelReplied(state: RunState, event: EventOf<"model.replied">): RunState {
  const { openRequest: _closed, ...rest } = state;
  const usage = addUsage(state.usage, event.usage, event.costNanoUsd);
  const charged: RunState = { ...rest, usage, retriesInRow: 0 };
  // A reply that arrives while the run is ending is paid for and otherwise ignored.
  return state.ending === undefined ? takeOutput(charged, event.output) : charged;
}

function addUsage(total: UsageTotal, usage: Usage, costNanoUsd: number | undefined): UsageTotal {
  return {
    ...total,
    inputTokens: total.inputTokens + usage.inputTokens,
    outputTokens: total.outputTokens + usage.outputTokens,
    costNanoUsd: total.costNanoUsd + (costNanoUsd ?? 0),
    costUnknown: total.costUnknown || costNanoUsd === undefined,
    estimated: total.estimated || usage.estimated === true,
  };
}

function takeOutput(state: RunState, output: ModelOutput): RunState {
  switch (output.kind) {
    case "final": {
      const messages = [...state.messages, { role: "assistant", text: output.text, calls: [] } as const];
      return beginEnding({ ...state, messages, answer: output.text, unreadableInRow: 0 }, { kind: "completed" });
    }
    case "unreadable": {
      const unreadableInRow = state.unreadableInRow + 1;
      const messages = [...state.messages, { role: "harness", text: output.problem } as const];
      const next = { ...state, unreadableInRow, messages };
      if (unreadableInRow < state.limits.unreadableRepliesMax) return next;
      const detail = `${unreadableInRow} replies in a row could not be read`;
      return beginEnding(next, { kind: "limit", limit: "unreadable_replies", detail });
    }
    case "calls":
      return takeCalls(state, output);
  }
}

function takeCalls(state: RunState, output: Extract<ModelOutput, { kind: "calls" }>): RunState {
  const { text, calls, providerData } = output;
  const { callKeys, turn } = openTurn(state, calls);
  const invalidCalls = state.invalidCalls + calls.filter(isSchemaInvalid).length;
  const newKeys = callKeys.length - state.callKeys.length;
  const opened = moveTo(
    {
      ...state,
      messages: [
        ...state.messages,
        { role: "assistant", text, calls, ...(providerData === undefined ? {} : { providerData }) },
      ],
      unreadableInRow: 0,
      turn,
      callKeys,
      invalidCalls,
    },
    "EXECUTE_TOOLS",
    `${calls.length} tool call(s)`,
  );
  const hit = limitAfterReply(state.limits, callKeys, newKeys, invalidCalls);
  return hit === undefined ? finishTurn(opened) : beginEnding(opened, { kind: "limit", ...hit });
}

/** Refuses what needs no rule: calls over the cap, and a changing call that stands twice in one turn. */
function openTurn(
  state: RunState,
  calls: readonly PreparedCall[],
): { readonly turn: readonly CallState[]; readonly callKeys: readonly string[] } {
  const callKeys = [...state.callKeys];
  const firstOfTurn = new Map<string, string>();
  const turn = calls.map((call, index): CallState => {
    const key = `${call.tool} ${keyOf(call)}`;
    const twin = firstOfTurn.get(key);
    // A twin counts once: it is answered with a reference, so it is no sign of a loop over turns.
    if (twin === undefined) {
      firstOfTurn.set(key, call.callId);
      callKeys.push(key);
    }
    const refusal = call.refusal ?? refuseByPosition(state, call, index, twin);
    const base = { call: deepFreeze(call), step: state.step, attempt: 0 } as const;
    return refusal === undefined
      ? { ...base, status: "requested" }
      : { ...base, status: "settled", outcome: refused(refusal) };
  });
  return { turn, callKeys };
}

function refuseByPosition(
  state: RunState,
  call: PreparedCall,
  index: number,
  twin: string | undefined,
): ToolError | undefined {
  const { callsPerTurnMax } = state.limits;
  if (index >= callsPerTurnMax) {
    const message = `only ${callsPerTurnMax} calls are run in one turn; this one was not`;
    return { code: "too_many_calls", message, retryable: true };
  }
  if (call.effect === "change" && wasRejected(state, call)) {
    const message = "a person has rejected this very call in this run; it is not asked again";
    return { code: "already_rejected", message, retryable: false };
  }
  if (twin === undefined || call.effect === "read") return undefined;
  const message = `the same call stands in this turn already as ${twin}; it is run once`;
  return { code: "duplicate_call", message, retryable: false };
}

/** A person's no to a call holds for the same call again; nobody is asked twice. */
function wasRejected(state: RunState, call: PreparedCall): boolean {
  const key = keyOf(call);
  return state.earlierCalls.some(
    (earlier) =>
      earlier.outcome?.status === "rejected" && earlier.call.tool === call.tool && keyOf(earlier.call) === key,
  );
}

function refused(error: ToolError): CallOutcome {
  return { status: "refused", error };
}

/** Arguments that could not be read have no canonical form; the hash of their text tells them apart. */
function keyOf(call: PreparedCall): string {
  // A call of an earlier version has no such hash, and its run must still end as it did.
  if (call.textHash !== undefined) return `unreadable ${call.textHash}`;
  const canonical = canonicalize(call.args);
  return canonical.ok ? canonical.text : `unreadable ${call.refusal?.message ?? ""}`;
}

/** Refusals that say nothing about the arguments. */
const NOT_ABOUT_ARGUMENTS: ReadonlySet<string> = new Set(["unknown_tool", "tool_not_offered"]);

function isSchemaInvalid(call: PreparedCall): boolean {
  return call.refusal !== undefined && !NOT_ABOUT_ARGUMENTS.has(call.refusal.code);
}
