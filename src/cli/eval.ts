import type { AnyApp } from "../config.ts";
import {
  agentMetrics,
  formatAgentReport,
  formatReport,
  type GateOptions,
  gate,
  runSuite,
  type SuiteResult,
  toJson,
} from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { loadApp } from "./load-config.ts";
import { projectConfig } from "./project.ts";
import { terminalLines } from "./terminal-text.ts";
import { usageError, wholeNumber } from "./usage.ts";

// Scripts and offline models are deterministic, so nothing may be worse than a full pass, decision codes included.
const GATE: GateOptions = { baseline: 1, maxDrop: 0, codes: true };
const SUITE = "reference";
const PARALLEL_MAX = 64;

export const evalCommand: Command = {
  name: "eval",
  summary: "run an app's scenarios and gate on them",
  positionals: [{ name: "app" }],
  options: {
    suite: { type: "string", value: "name", help: `suite of the app, or all (default ${SUITE})` },
    case: { type: "string", value: "id", help: "only this case" },
    weaknesses: { type: "string", value: "a,b", help: "faults that the app builds in on purpose" },
    parallel: { type: "string", value: "n", help: "cases at a time (default 4)" },
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: [
    "eval shop",
    "eval shop --suite all",
    "eval shop --suite guards --case X01 --json",
    "eval stockroom --weaknesses naive_retry",
  ],
  run: async (input) => {
    const [name = ""] = input.positionals;
    const app = configured(await loadApp(await projectConfig(input), name), textOption(input, "weaknesses"));
    const suite = textOption(input, "suite") ?? SUITE;
    const suites = suite === "all" ? Object.keys(app.suites ?? {}) : [suite];
    const results: SuiteResult[] = [];
    for (const each of suites) {
      const result = await runOne(input, app, each);
      results.push(result);
      if (!hasFlag(input, "json")) {
        printReport(input, result, suites.length > 1);
      }
    }
    if (hasFlag(input, "json")) {
      const reports = results.map((result) => toJson(result, GATE));
      input.output.json(suites.length === 1 ? reports[0] : reports, 2);
    }
    return results.length > 0 && results.every((result) => gate(result, GATE).passed) ? 0 : 1;
  },
};

function configured(app: AnyApp, weaknesses: string | undefined): AnyApp {
  if (weaknesses === undefined) {
    return app;
  }
  if (app.configure === undefined) {
    throw usageError(`The app ${app.name} has no weaknesses to switch on. Leave out --weaknesses.`);
  }
  return app.configure({ weaknesses });
}

async function runOne(input: CommandInput, app: AnyApp, suite: string): Promise<SuiteResult> {
  const only = textOption(input, "case");
  const parallel = textOption(input, "parallel");
  const result = await runSuite(app, suite, {
    ...(parallel !== undefined && { parallel: wholeNumber("--parallel", parallel, 1, PARALLEL_MAX) }),
    ...(only !== undefined && { only: [only] }),
    onProgress: (done, total) => input.output.transient(`${suite}: ${done} of ${total}`),
  });
  input.output.transient("");
  return result;
}

function printReport({ output }: CommandInput, result: SuiteResult, isNamed: boolean): void {
  if (isNamed) {
    output.line({ text: `suite: ${result.suite}`, style: "bold" });
  }
  const metrics = agentMetrics(result);
  const report = metrics === undefined ? formatReport(result, GATE) : formatAgentReport(result, metrics, GATE);
  for (const line of terminalLines(report).slice(0, -1)) {
    output.line(line.startsWith("GATE: ") ? { text: line, style: line === "GATE: PASS" ? "green" : "red" } : line);
  }
}
