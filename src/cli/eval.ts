import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
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
  gate,
  type SuiteResult,
  toJson,
} from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { documentOf, evalApp, REPEATS_OPTION, repeatsOf, runSuites, SUITE_OPTIONS } from "./eval-suites.ts";
import { evalTools } from "./eval-tools.ts";
import { TOOLS_OPTION } from "./mcp-tools.ts";
import { terminalLines } from "./terminal-text.ts";
import { usageError } from "./usage.ts";

// Scripts and offline models are deterministic, so nothing may be worse than a full pass, decision codes included.
const GATE: GateOptions = { baseline: 1, maxDrop: 0, codes: true };
const SUITE = "reference";

export const evalCommand: Command = {
  name: "eval",
  summary: "run an app's scenarios and gate on them",
  positionals: [{ name: "app" }],
  options: {
    suite: { type: "string", value: "name", help: `suite of the app, or all (default ${SUITE})` },
    case: { type: "string", value: "id", help: "only this case" },
    ...SUITE_OPTIONS,
    ...REPEATS_OPTION,
    ...TOOLS_OPTION,
    statistics: { type: "boolean", help: "also print intervals and bounds; always with --repeats" },
    coverage: {
      type: "boolean",
      help: "also list what the suites do not reach; runs all suites unless told otherwise",
    },
    out: { type: "string", value: "file", help: "write the document of results, as JSON" },
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: [
    "eval shop",
    "eval shop --suite all",
    "eval shop --suite guards --case X01 --json",
    "eval shop --coverage",
    "eval stockroom --repeats 5 --out results.json",
    "eval stockroom --weaknesses naive_retry",
    "eval stockroom --tools mcp-http",
  ],
  run: async (input) => {
    const app = await evalApp(input);
    const withCoverage = hasFlag(input, "coverage");
    checkOptions(input, app);
    const suite = textOption(input, "suite") ?? (withCoverage ? "all" : SUITE);
    const suites = suite === "all" ? Object.keys(app.suites ?? {}) : [suite];
    const tools = await evalTools(input, app, suites);
    const repeats = await runSuites(input, app, suites, repeatsOf(input), tools).finally(tools.close);
    const results = repeats.flat();
    if (hasFlag(input, "json")) {
      const reports = results.map((result) => toJson(result, GATE));
      input.output.json(results.length === 1 ? reports[0] : reports, 2);
    } else {
      printReports(input, repeats);
    }
    const gaps = withCoverage ? printCoverage(input, app, results) : 0;
    const out = textOption(input, "out");
    if (out !== undefined) {
      const { document } = await documentOf(app, suites, repeats, tools);
      writeFileSync(resolve(input.cwd, out), `${JSON.stringify(document, null, 2)}\n`);
    }
    return results.length > 0 && gaps === 0 && results.every((result) => gate(result, GATE).passed) ? 0 : 1;
  },
};

function checkOptions(input: CommandInput, app: AnyApp): void {
  if (hasFlag(input, "coverage") && app.evals?.coverage === undefined) {
    throw usageError(`The app ${app.name} does not say what its suites should reach. Give it "evals.coverage".`);
  }
  for (const option of ["out", "coverage"]) {
    if (textOption(input, "case") !== undefined && input.options[option] !== undefined) {
      throw usageError(`--${option} is about whole suites. Leave out --case.`);
    }
  }
}

function printReports(input: CommandInput, repeats: readonly (readonly SuiteResult[])[]): void {
  const [first = []] = repeats;
  const withStatistics = hasFlag(input, "statistics") || repeats.length > 1;
  for (const result of first) {
    printReport(input, result, first.length > 1);
    if (withStatistics) {
      const same = repeats.flat().filter(({ suite }) => suite === result.suite);
      printLines(input, formatStatistics(same));
    }
  }
}

function printReport(input: CommandInput, result: SuiteResult, isNamed: boolean): void {
  if (isNamed) {
    input.output.line({ text: `suite: ${result.suite}`, style: "bold" });
  }
  const metrics = agentMetrics(result);
  printLines(input, metrics === undefined ? formatReport(result, GATE) : formatAgentReport(result, metrics, GATE));
}

function printLines({ output }: CommandInput, report: string): void {
  for (const line of terminalLines(report).slice(0, -1)) {
    output.line(line.startsWith("GATE: ") ? { text: line, style: line === "GATE: PASS" ? "green" : "red" } : line);
  }
}

/** Prints the coverage, and returns how many gaps it has. */
function printCoverage(input: CommandInput, app: AnyApp, results: readonly SuiteResult[]): number {
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
