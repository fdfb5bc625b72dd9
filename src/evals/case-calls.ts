import type { CallOutcome, CallState, JsonValue } from "../core/index.ts";

/** One call that the model asked for, and what became of it. */
export interface CaseCall {
  /** Number of the model call that asked for it, from 1. */
  readonly step: number;
  readonly tool: string;
  readonly args: JsonValue;
  /** `invalid`: unknown tool or wrong arguments. `blocked`: a rule. `not_run`: the run ended, a cap, or a person. */
  readonly status: "executed" | "invalid" | "blocked" | "not_run";
  /** Of the failure, as the agent names it. */
  readonly code?: string;
}

/** Reads the calls of one run, in the order in which the model asked for them; `codes` are the agent's own names. */
export function callsOf(
  calls: readonly CallState[],
  codes: Readonly<Record<string, string>> = {},
): readonly CaseCall[] {
  return calls.map((state) => {
    const { call, step, outcome } = state;
    const code = outcome === undefined || outcome.status === "ok" ? undefined : outcome.error.code;
    return {
      step,
      tool: call.tool,
      args: call.args,
      status: call.refusal === undefined ? statusOf(outcome) : "invalid",
      ...(code !== undefined && { code: (Object.hasOwn(codes, code) ? codes[code] : undefined) ?? code }),
    };
  });
}

function statusOf(outcome: CallOutcome | undefined): CaseCall["status"] {
  switch (outcome?.status) {
    case "ok":
    case "failed":
    case "unknown":
      return "executed";
    case "denied":
      return "blocked";
    // A refusal that is not the call's own is about its place in the turn.
    case "refused":
    case "rejected":
    case "expired":
    case "world_changed":
    case "not_run":
    case undefined:
      return "not_run";
  }
}
