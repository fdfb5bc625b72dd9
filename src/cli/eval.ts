import type { AnyApp } from "../config.ts";
import { type GateOptions, gate, type SuiteResult, toJson } from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { chosenJudge, JUDGE_OPTION, judgedLines, judgedSuites } from "./eval-judge.ts";
import { printCoverage, printReports } from "./eval-print.ts";
import { REPLY_OPTIONS, type RepliesApp, withReplies } from "./eval-replies.ts";
import { documentOf, evalApp, REPEATS_OPTION, repeatsOf, runSuites, SUITE_OPTIONS } from "./eval-suites.ts";
import { evalTools } from "./eval-tools.ts";
import { printFixLog } from "./fix-log.ts";
import { TOOLS_OPTION } from "./mcp-tools.ts";
import { OUT_OPTION, REPORT_OPTIONS, writeResults } from "./results.ts";
import { usageError } from "./usage.ts";

// Scripts and offline models are deterministic, so nothing may be worse than a full pass, decision codes included.
const GATE: GateOptions = { baseline: 1, maxDrop: 0, codes: true };
const SUITE = "reference";

/** Options that are about the results of whole suites. */
const WHOLE = ["out", "coverage", "markdown", "html", "junit"] as const;
/** Options that go with `--fix-log`, which runs builds of its own. */
const FIX_LOG = new Set(["fix-log", "svg", "suite", "parallel", "out", "json", "config"]);

export const evalCommand: Command = {
  name: "eval",
  summary: "run an app's scenarios, and write what came out",
  positionals: [{ name: "app" }],
  options: {
    suite: { type: "string", value: "name", help: `suite of the app, or all (default ${SUITE})` },
    case: { type: "string", value: "id", help: "only this case; nothing is written" },
    ...SUITE_OPTIONS,
    ...REPEATS_OPTION,
    ...TOOLS_OPTION,
    statistics: { type: "boolean", help: "also print intervals and bounds; always with --repeats" },
    coverage: {
      type: "boolean",
      help: "also list what the suites do not reach; runs all suites unless told otherwise",
    },
    "fix-log": { type: "boolean", help: "mend the app's weaknesses one by one, and show what each was worth" },
    svg: { type: "string", value: "file", help: "with --fix-log: where its chart goes (default into the results)" },
    ...JUDGE_OPTION,
    ...REPLY_OPTIONS,
    ...OUT_OPTION,
    ...REPORT_OPTIONS,
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: [
    "eval shop",
    "eval shop --suite all",
    "eval shop --suite guards --case X01 --json",
    "eval shop --coverage",
    "eval stockroom --repeats 5 --out results.json",
    "eval stockroom --weaknesses naive_retry --html page.html",
    "eval stockroom --fix-log --svg fix-log.svg",
    "eval stockroom --replay replies --strict",
    "eval stockroom --tools mcp-http",
  ],
  run: async (input) => {
    const app = await evalApp(input);
    checkOptions(input, app);
    if (hasFlag(input, "fix-log")) {
      await printFixLog(input, app);
      return 0;
    }
    await chosenJudge(input);
    return await evaluate(input, withReplies(input, app));
  },
};

async function evaluate(input: CommandInput, { app, problems }: RepliesApp): Promise<number> {
  const suites = suitesOf(input, app);
  const tools = await evalTools(input, app, suites);
  const repeats = await runSuites(input, app, suites, repeatsOf(input), tools).finally(tools.close);
  const results = repeats.flat();
  const { judged = [] } = await judgedSuites(input, app, suites, results);
  if (hasFlag(input, "json")) {
    const reports = results.map((result) => toJson(result, GATE));
    input.output.json(results.length === 1 ? reports[0] : reports, 2);
  } else {
    printReports(input, repeats, GATE);
    judgedLines(judged).forEach((line) => void input.output.line(line));
  }
  const gaps = hasFlag(input, "coverage") ? printCoverage(input, app, results) : 0;
  if (textOption(input, "case") === undefined && results.length > 0) {
    const { document } = await documentOf(app, suites, repeats, { transport: tools.transport, judged });
    writeResults(input, document, { isKept: true });
  }
  for (const problem of problems()) {
    input.output.progress(`replay: ${problem}`);
  }
  return succeeded(results) && gaps === 0 && problems().length === 0 ? 0 : 1;
}

/** Coverage is about all suites unless one is named. */
function suitesOf(input: CommandInput, app: AnyApp): readonly string[] {
  const suite = textOption(input, "suite") ?? (hasFlag(input, "coverage") ? "all" : SUITE);
  return suite === "all" ? Object.keys(app.suites ?? {}) : [suite];
}

function succeeded(results: readonly SuiteResult[]): boolean {
  return results.length > 0 && results.every((result) => gate(result, GATE).passed);
}

function checkOptions(input: CommandInput, app: AnyApp): void {
  if (hasFlag(input, "coverage") && app.evals?.coverage === undefined) {
    throw usageError(`The app ${app.name} does not say what its suites should reach. Give it "evals.coverage".`);
  }
  const whole = WHOLE.find((option) => input.options[option] !== undefined);
  if (whole !== undefined && textOption(input, "case") !== undefined) {
    throw usageError(`--${whole} is about whole suites. Leave out --case.`);
  }
  const other = Object.keys(input.options).find((option) => !FIX_LOG.has(option));
  if (hasFlag(input, "fix-log") && other !== undefined) {
    throw usageError(`--fix-log runs builds of its own. Leave out --${other}.`);
  }
  if (textOption(input, "svg") !== undefined && !hasFlag(input, "fix-log")) {
    throw usageError("--svg is the chart of --fix-log. Give both, or --html for a page with charts.");
  }
}
