import type { JsonValue } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import { AGENTCORE_EVALUATION } from "./shapes.ts";

/** An `Evaluate` request of Amazon Bedrock AgentCore: spans of one session, and who scores them. */
export interface AgentCorePayload {
  /** Such as `Builtin.Helpfulness`. */
  readonly evaluatorId: string;
  /** Spans in the format of OpenTelemetry, as they were exported. */
  readonly evaluationInput: { readonly sessionSpans: readonly JsonValue[] };
  /** Absent: the whole session. */
  readonly evaluationTarget?: { readonly traceIds: readonly string[] } | { readonly spanIds: readonly string[] };
}

/** Checks a request. Throws `BELAY_EVAL_CASE` for one that the service would refuse, with the field. */
export function agentCorePayload(payload: AgentCorePayload): AgentCorePayload {
  const problem = AGENTCORE_EVALUATION.check(payload as unknown as JsonValue, "");
  if (problem !== undefined) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `the AgentCore evaluation cannot be submitted: ${problem.path || "it"} ${problem.problem}`,
    );
  }
  return payload;
}
