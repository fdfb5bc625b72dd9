import type { JsonValue } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import { type AgentCorePayload, agentCorePayload } from "./agentcore-evaluation.ts";
import { type EvaluationJobPayload, evaluationJobProblem } from "./evaluation-job.ts";

/** What must be set before anything costs money. */
export interface SubmitGates {
  readonly mode: "mock" | "live";
  /** Somebody said that money may be spent. */
  readonly confirmed: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

/**
 * Submits a job: live mode, a confirmation and `EVAL_ROLE_ARN`, which must be the role of the request; with any of them
 * missing nothing is sent.
 *
 * `send` hands the request to the service, such as with `CreateEvaluationJobCommand` of `@aws-sdk/client-bedrock`.
 * Throws `BELAY_LIVE_NOT_CONFIRMED` with what is missing, and `BELAY_EVAL_CASE` for a request that would be refused.
 */
export async function submitEvaluationJob<Sent>(
  payload: EvaluationJobPayload,
  gates: SubmitGates,
  send: (payload: EvaluationJobPayload) => Promise<Sent>,
): Promise<Sent> {
  passGates(gates, "EVAL_ROLE_ARN", "the evaluation job");
  const problem = evaluationJobProblem(payload as unknown as JsonValue);
  if (problem !== undefined || gates.env["EVAL_ROLE_ARN"] !== payload.roleArn) {
    const why = problem ?? `its role is ${payload.roleArn}, and EVAL_ROLE_ARN names another one`;
    throw new BelayError("BELAY_EVAL_CASE", `the evaluation job was not submitted: ${why}`);
  }
  return await send(payload);
}

/**
 * Has spans evaluated: live mode, a confirmation and `AGENTCORE_SESSION_ID`; with any of them missing nothing is sent.
 *
 * Throws `BELAY_LIVE_NOT_CONFIRMED` with what is missing, and `BELAY_EVAL_CASE` for a request that would be refused.
 */
export async function submitAgentCoreEvaluation<Sent>(
  payload: AgentCorePayload,
  gates: SubmitGates,
  send: (payload: AgentCorePayload) => Promise<Sent>,
): Promise<Sent> {
  passGates(gates, "AGENTCORE_SESSION_ID", "the AgentCore evaluation");
  return await send(agentCorePayload(payload));
}

function passGates({ mode, confirmed, env }: SubmitGates, variable: string, what: string): void {
  const missing = [
    ...(mode === "live" ? [] : ["live mode"]),
    ...(confirmed ? [] : ["a confirmation that money may be spent"]),
    ...((env[variable] ?? "").trim() === "" ? [`the variable ${variable}`] : []),
  ];
  if (missing.length > 0) {
    throw new BelayError("BELAY_LIVE_NOT_CONFIRMED", `${what} was not submitted; it needs ${missing.join(" and ")}.`);
  }
}
