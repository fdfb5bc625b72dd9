export { type AgentCorePayload, agentCorePayload } from "./agentcore-evaluation.ts";
export {
  type EvaluationJobInput,
  type EvaluationJobPayload,
  evaluationJobPayload,
  evaluationJobProblem,
  JUDGE_METRICS,
  judgeDataset,
} from "./evaluation-job.ts";
export { type PollOptions, pollQuery, type QueryEnd, type QueryStatus } from "./poll-query.ts";
export { type SubmitGates, submitAgentCoreEvaluation, submitEvaluationJob } from "./submit.ts";
