import type { CallOutcome, CallState } from "./call.ts";
import { moveTo } from "./phase.ts";
import type { Message, RunState, UsageTotal } from "./run-state.ts";
import { type Termination, terminationCode } from "./termination.ts";

/**
 * Decides that the run ends: what has not begun will not, what runs is waited for.
 *
 * The first reason stays. From here on the state is absorbing: `refusalOf` lets only what is running finish.
 */
export function beginEnding(state: RunState, termination: Termination): RunState {
  if (state.ending !== undefined) return state;
  return {
    ...state,
    ending: termination,
    turn: state.turn.map((call) =>
      call.status === "settled" || call.status === "started" ? call : { ...call, status: "settled", outcome: NOT_RUN },
    ),
  };
}

const NOT_RUN: CallOutcome = {
  status: "not_run",
  error: { code: "not_run", message: "the run ended before this call was run; nothing happened", retryable: false },
};

export function onRunEnded(state: RunState): RunState {
  if (state.ending === undefined) return state;
  const { ending, openRequest, ...rest } = closeTurn(state);
  const usage = chargeReservation(rest.usage, openRequest);
  return {
    ...moveTo({ ...rest, usage }, ending?.kind === "completed" ? "DONE" : "FAILED", endReason(state.ending)),
    termination: state.ending,
  };
}

/** Gives every call of the turn its one result in the context and empties the turn. */
export function closeTurn(state: RunState): RunState {
  if (state.turn.length === 0) return state;
  return {
    ...state,
    messages: [...state.messages, ...state.turn.map(resultMessage)],
    earlierCalls: [...state.earlierCalls, ...state.turn],
    turn: [],
  };
}

function resultMessage({ call, outcome }: CallState): Message {
  return { role: "tool", callId: call.callId, tool: call.tool, outcome: outcome ?? NOT_RUN };
}

/** Charges a model call that left no usage at the most it may have used. */
export function chargeReservation(
  usage: UsageTotal,
  reserved: { readonly inputTokens: number; readonly outputTokens: number; readonly costNanoUsd?: number } | undefined,
): UsageTotal {
  if (reserved === undefined) return usage;
  return {
    ...usage,
    inputTokens: usage.inputTokens + reserved.inputTokens,
    outputTokens: usage.outputTokens + reserved.outputTokens,
    costNanoUsd: usage.costNanoUsd + (reserved.costNanoUsd ?? 0),
    costUnknown: usage.costUnknown || reserved.costNanoUsd === undefined,
    estimated: true,
  };
}

function endReason(termination: Termination): string {
  switch (termination.kind) {
    case "completed":
      return "stop_reason:end_turn";
    case "limit":
      return `guard:${termination.limit}`;
    default:
      return terminationCode(termination);
  }
}
