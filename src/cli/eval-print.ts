import type { AnyApp } from "../config.ts";
import {
  agentMetrics,
  controlsOfApp,
  coverageGaps,
  coverageOf,
  formatAgentReport,
  formatCoverage,
  formatReport,
  formatStatistics,
  type GateOptions,
  type SuiteResult,
} from "../evals/index.ts";
import { type CommandInput, hasFlag } from "./command.ts";
import { terminalLines } from "./terminal-text.ts";

/** Prints the report of each suite, and the statistics when they were asked for or there are repeats. */
export function printReports(
  input: CommandInput,
  repeats: readonly (readonly SuiteResult[])[],
  gateOptions: GateOptions,
): void {
  const [first = []] = repeats;
  const withStatistics = hasFlag(input, "statistics") || repeats.length > 1;
  for (const result of first) {
    if (first.length > 1) {
      input.output.line({ text: `suite: ${result.suite}`, style: "bold" });
    }
    const metrics = agentMetrics(result);
    printLines(
      input,
      metrics === undefined ? formatReport(result, gateOptions) : formatAgentReport(result, metrics, gateOptions),
    );
    if (withStatistics) {
      const same = repeats.flat().filter(({ suite }) => suite === result.suite);
      printLines(input, formatStatistics(same));
    }
  }
}

function printLines({ output }: CommandInput, report: string): void {
  for (const line of terminalLines(report).slice(0, -1)) {
    output.line(line.startsWith("GATE: ") ? { text: line, style: line === "GATE: PASS" ? "green" : "red" } : line);
  }
}

/** Prints the coverage, and returns how many gaps it has. */
export function printCoverage(input: CommandInput, app: AnyApp, results: readonly SuiteResult[]): number {
  const targets = app.evals?.coverage;
  if (targets === undefined) {
    return 0;
  }
  const controls = controlsOfApp(app).flatMap(({ id, idle }) => (idle === undefined ? [id] : []));
  const coverage = coverageOf(
    results.flatMap(({ cases }) => cases),
    targets,
    controls,
  );
  if (hasFlag(input, "json")) {
    // The one JSON value on stdout is that of the reports.
    for (const gap of coverageGaps(coverage)) {
      input.output.progress(gap);
    }
  } else {
    printLines(input, formatCoverage(coverage));
  }
  return coverageGaps(coverage).length;
}
