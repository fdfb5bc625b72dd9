import type { AgentOutcome } from "./agent-outcome.ts";
import type { CaseResult } from "./case-result.ts";
import type { SuiteResult } from "./run-suite.ts";

/** Means over the cases of a suite that name their expected tools, by the names that the source prints. */
export interface AgentMetrics {
  readonly cases: number;
  readonly tool_selection_accuracy: number;
  readonly answer_correctness: number;
  /** Facts whole and said of what was asked about; the substring metric above is the published one. */
  readonly answer_correctness_bound: number;
  readonly termination_match_rate: number;
  readonly must_not_call_ok_rate: number;
  readonly argument_correctness: number;
  readonly trajectory_match: number;
  /** Cases with a call that was sent again unchanged. */
  readonly loop_rate: number;
  readonly redundant_query_rate: number;
  /** Invalid calls for each case, so it may be above 1. */
  readonly invalid_call_rate: number;
  /** Calls that a rule refused, for each case. */
  readonly blocked_call_rate: number;
  readonly compaction_rate: number;
  readonly mean_input_tokens: number;
  readonly mean_output_tokens: number;
  readonly mean_model_calls: number;
  /** US dollars of the whole suite; `null` when the price of any call was unknown, which is never zero. */
  readonly cost_usd: number | null;
}

type Measured = CaseResult & { readonly agent: AgentOutcome };

/** Adds up a suite run; `undefined` when no case of it names expected tools. */
export function agentMetrics({ cases }: Pick<SuiteResult, "cases">): AgentMetrics | undefined {
  const measured = cases.filter((result): result is Measured => result.agent !== undefined);
  if (measured.length === 0) {
    return undefined;
  }
  const mean = (read: (result: Measured) => number | boolean): number =>
    measured.reduce((sum, result) => sum + Number(read(result)), 0) / measured.length;
  const costs = measured.map((result) => result.costNanoUsd);
  return {
    cases: measured.length,
    tool_selection_accuracy: mean(({ agent }) => agent.toolSelection),
    answer_correctness: mean(({ agent }) => agent.answerCorrect),
    answer_correctness_bound: mean(({ agent }) => agent.answerCorrectBound),
    termination_match_rate: mean(({ agent }) => agent.terminationMatch),
    must_not_call_ok_rate: mean(({ agent }) => agent.mustNotCallOk),
    argument_correctness: mean(({ agent }) => agent.argumentCorrectness),
    trajectory_match: mean(({ agent }) => agent.trajectoryMatch),
    loop_rate: mean(({ agent }) => agent.hasLoop),
    redundant_query_rate: mean(({ agent }) => agent.redundantQueries > 0),
    invalid_call_rate: mean(({ agent }) => agent.invalidCalls),
    blocked_call_rate: mean(({ agent }) => agent.blockedCalls),
    compaction_rate: mean(({ agent }) => agent.compactions > 0),
    mean_input_tokens: mean(({ usage }) => usage.inputTokens),
    mean_output_tokens: mean(({ usage }) => usage.outputTokens),
    mean_model_calls: mean(({ usage }) => usage.modelCalls),
    cost_usd: costs.every((cost) => cost !== undefined) ? costs.reduce((sum, cost) => sum + cost, 0) / 1e9 : null,
  };
}
