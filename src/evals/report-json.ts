import { agentMetrics } from "./agent-metrics.ts";
import { codesMatch } from "./case-result.ts";
import { type GateOptions, gate } from "./gate.ts";
import { measure } from "./metrics.ts";
import type { SuiteResult } from "./run-suite.ts";

/** A suite run as plain data for other programs: the report's numbers, the gate, and each case. */
export function toJson(result: SuiteResult, gateOptions: GateOptions = {}): Record<string, unknown> {
  const { success, classes, stops, meanCostUsd, ...metrics } = measure(result);
  return {
    app: result.app,
    suite: result.suite,
    without: result.without,
    success,
    classes: Object.fromEntries(classes),
    stops: Object.fromEntries(stops),
    // Unknown is never zero, and a field that is missing is easily read as one.
    meanCostUsd: meanCostUsd ?? null,
    ...metrics,
    agent: agentMetrics(result) ?? null,
    gate: gate(result, gateOptions),
    cases: result.cases.map(({ detail: _detail, ...evalCase }) => ({
      ...evalCase,
      costNanoUsd: evalCase.costNanoUsd ?? null,
      codesMatch: codesMatch(evalCase) ?? null,
    })),
  };
}
