/** Names of the limits, also the `<name>` of the transition reason `guard:<name>`. */
export type LimitId =
  | "max_steps"
  | "token_budget"
  | "cost_budget"
  | "wall_clock"
  | "repeated_call"
  | "cycle"
  | "invalid_calls"
  | "unreadable_replies"
  | "rejections";

/** Why a run ended. Every end is one of these; there is no untyped stop. */
export type Termination =
  | { readonly kind: "completed" }
  | { readonly kind: "limit"; readonly limit: LimitId; readonly detail: string }
  | { readonly kind: "halted"; readonly code: string; readonly ruleId: string; readonly detail: string }
  | { readonly kind: "rejected"; readonly approvalId: string; readonly by: string }
  | { readonly kind: "approval_expired"; readonly approvalId: string }
  | { readonly kind: "world_changed"; readonly code: string; readonly callId: string }
  | { readonly kind: "outcome_unknown"; readonly callId: string }
  | { readonly kind: "model_error"; readonly code: string; readonly detail: string }
  | { readonly kind: "cancelled"; readonly by: string };

/**
 * The stable text of a termination: `completed`, a limit's name, `halted:CODE`, `world_changed:CODE`, or the kind.
 * An agent's `labels` may rename it for its readers.
 */
export function terminationCode(termination: Termination): string {
  switch (termination.kind) {
    case "limit":
      return termination.limit;
    case "halted":
    case "world_changed":
      return `${termination.kind}:${termination.code}`;
    default:
      return termination.kind;
  }
}
