export { type AgentMetrics, agentMetrics } from "./agent-metrics.ts";
export type { AgentOutcome } from "./agent-outcome.ts";
export { formatAgentReport } from "./agent-report.ts";
export { type CaseCall, callsOf } from "./case-calls.ts";
export { type CaseResult, codesMatch, type QuestionOutcome } from "./case-result.ts";
export { holdsBoundFact, holdsFact } from "./facts.ts";
export { type GateOptions, type GateVerdict, gate } from "./gate.ts";
export { parseCases } from "./load-suite.ts";
export { detectLoops, type LoopCall, type LoopFinding } from "./loops.ts";
export { measure, type Share, type SuiteMetrics } from "./metrics.ts";
export { formatReport } from "./report.ts";
export { toJson } from "./report-json.ts";
export { type RunCaseOptions, runCase } from "./run-case.ts";
export { type RunSuiteOptions, runSuite, type SuiteResult } from "./run-suite.ts";
export { type Interval, wilson } from "./statistics.ts";
export type {
  EvalCase,
  EvalSuite,
  Expectation,
  ExpectedTool,
  Fault,
  MockTurn,
  PersonAct,
  TrajectoryMatchMode,
} from "./suite.ts";
