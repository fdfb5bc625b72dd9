import type { AgentMetrics } from "./agent-metrics.ts";
import { type GateOptions, gate } from "./gate.ts";
import type { SuiteResult } from "./run-suite.ts";

/** Writes the metrics of agents that choose their own tools as a table, then the gate and what went wrong. */
export function formatAgentReport(result: SuiteResult, metrics: AgentMetrics, gateOptions: GateOptions = {}): string {
  const { passed, failures } = gate(result, gateOptions);
  const ended = Map.groupBy(result.cases, ({ stop }) => stop);
  const { cases, cost_usd: cost, ...rates } = metrics;
  const rows: readonly (readonly [string, string])[] = [
    ["cases", String(cases)],
    ...Object.entries(rates).map(([name, value]) => [name, value.toFixed(2)] as const),
    ["cost_usd", cost === null ? "unknown" : cost.toFixed(6)],
  ];
  const width = Math.max(...rows.map(([name]) => name.length));
  return [
    ...rows.map(([name, value]) => `${name.padEnd(width)}  ${value.padStart(10)}`),
    `terminations: ${[...ended].map(([stop, group]) => `${stop} ${group.length}`).join(", ")}`,
    `audit logs intact: ${result.cases.every(({ auditIntact }) => auditIntact) ? "True" : "False"}`,
    ...(passed ? ["GATE: PASS"] : ["GATE: FAIL", ...failures.map((failure) => `  - ${failure}`)]),
    ...result.cases.flatMap(({ id, class: name, reasons }) => reasons.map((reason) => `  ${id} (${name}): ${reason}`)),
  ]
    .map((line) => `${line}\n`)
    .join("");
}
