export {
  type AblateOptions,
  ablate,
  isWholeMatrix,
  type KillMatrix,
  type KillPair,
  type KillRow,
} from "./ablate.ts";
export { formatKillMatrix } from "./ablate-text.ts";
export { type AgentMetrics, agentMetrics } from "./agent-metrics.ts";
export type { AgentOutcome } from "./agent-outcome.ts";
export { formatAgentReport } from "./agent-report.ts";
export * from "./agentcore/index.ts";
export type { AppEvals, CoverageTargets, GateThresholds, MetricValues } from "./app-evals.ts";
export { type AgentControl, controlsOfApp } from "./applicable-controls.ts";
export { type CaseCall, callsOf } from "./case-calls.ts";
export { evalCaseSchema } from "./case-fields.ts";
export {
  type CaseDetail,
  type CaseResult,
  codesMatch,
  type LimitReach,
  type QuestionOutcome,
} from "./case-result.ts";
export { type Coverage, type CoverageLine, coverageGaps, coverageOf, formatCoverage } from "./coverage.ts";
export { type Dataset, datasetHash, readDataset } from "./dataset.ts";
export {
  type CaseOutcome,
  createDocument,
  type DocumentAttack,
  type DocumentCase,
  type DocumentInput,
  type DocumentSubject,
  type EvalDocument,
} from "./document.ts";
export { holdsBoundFact, holdsFact } from "./facts.ts";
export * from "./fix-log/index.ts";
export { type GateOptions, type GateVerdict, gate } from "./gate.ts";
export {
  type DocumentVerdict,
  GATE_STAGES,
  type GateDocumentOptions,
  type GateFailure,
  type GateStage,
  gateDocument,
} from "./gate-document.ts";
export { baselineRefusals, comparabilityProblems, evidenceProblems } from "./gate-evidence.ts";
export * from "./inference/index.ts";
export * from "./judges/index.ts";
export { leaksIn, secretsOf } from "./leaks.ts";
export { parseCases } from "./load-suite.ts";
export { detectLoops, type LoopCall, type LoopFinding } from "./loops.ts";
export { metricValues } from "./metric-values.ts";
export { measure, type Share, type SuiteMetrics } from "./metrics.ts";
export { parseDocument } from "./read-document.ts";
export * from "./red-team/index.ts";
export * from "./replay/index.ts";
export { formatReport } from "./report.ts";
export { toJson } from "./report-json.ts";
export * from "./reports/index.ts";
export { type RunCaseOptions, runCase, type Through, type ThroughBoundary } from "./run-case.ts";
export { openSuite, type RunSuiteOptions, runSuite, type SuiteResult } from "./run-suite.ts";
export { agentRunFromSpans, type SpanLike, type SpanRun } from "./span-run.ts";
export { type Interval, wilson } from "./statistics.ts";
export { formatStatistics } from "./statistics-text.ts";
export type {
  ArgumentComparison,
  EffectsOfWorld,
  EvalCase,
  EvalSuite,
  Expectation,
  ExpectedTool,
  Fault,
  LimitFromNeed,
  MockCall,
  MockTurn,
  PersonAct,
  ScriptLine,
  TrajectoryMatchMode,
} from "./suite.ts";
export { AGGREGATE_THRESHOLDS, DEFAULT_THRESHOLDS, FULL_THRESHOLDS, SHOP_THRESHOLDS } from "./thresholds.ts";
export * from "./vacuity/index.ts";
