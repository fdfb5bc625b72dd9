import { existsSync, readFileSync } from "node:fs";
import { resolve } from "node:path";
import { fileURLToPath } from "node:url";
import type { AnyApp } from "../config.ts";
import {
  baselineRefusals,
  DEFAULT_THRESHOLDS,
  type DocumentVerdict,
  type EvalDocument,
  type EvalSuite,
  gateDocument,
  parseDocument,
  redTeamIds,
} from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { allSuites, documentOf, evalApp, REPEATS_OPTION, repeatsOf, runSuites, SUITE_OPTIONS } from "./eval-suites.ts";
import { type EvalTools, evalTools } from "./eval-tools.ts";
import { TOOLS_OPTION, toolsMode, worksElsewhere } from "./mcp-tools.ts";
import { attack } from "./red-team.ts";
import { jsonOf, REPORT_OPTIONS, writeResults, writeWhole } from "./results.ts";
import { usageError } from "./usage.ts";

export const gateCommand: Command = {
  name: "gate",
  summary: "run all suites of an app and hold them against its baseline and thresholds",
  positionals: [{ name: "app" }],
  options: {
    baseline: { type: "string", value: "file", help: "document to compare with (default the one that the app names)" },
    "write-baseline": {
      type: "string",
      value: "file",
      help: "write this run as a baseline; refused for a weakened one",
    },
    out: { type: "string", value: "place", help: "folder of the results, or one .json file (default: none)" },
    ...REPORT_OPTIONS,
    ...SUITE_OPTIONS,
    ...REPEATS_OPTION,
    ...TOOLS_OPTION,
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: [
    "gate shop",
    "gate stockroom --weaknesses naive_retry",
    "gate stockroom --tools mcp-http --out results.json --markdown comment.md --junit junit.xml",
    "gate shop --write-baseline apps/shop/evals/baseline.json",
  ],
  run: async (input) => {
    const app = await evalApp(input);
    const suites = allSuites(app);
    if (worksElsewhere(toolsMode(textOption(input, "tools")))) {
      throw usageError(
        "A gate holds what agents say against the app's data. Use --tools local, mcp, or mcp-http without BELAY_MCP_URL.",
      );
    }
    const tools = await evalTools(input, app, suites);
    const { document, opened } = await gatedDocument(input, app, suites, tools).finally(tools.close);
    const target = textOption(input, "write-baseline");
    return target === undefined
      ? judge(input, app, document, opened)
      : writeBaseline(input, resolve(input.cwd, target), document, opened);
  },
};

/** Runs the suites and the red team, if the app has one. */
async function gatedDocument(
  input: CommandInput,
  app: AnyApp,
  suites: readonly string[],
  tools: EvalTools,
): Promise<{ readonly document: EvalDocument; readonly opened: readonly EvalSuite[] }> {
  const repeats = await runSuites(input, app, suites, repeatsOf(input), tools);
  const redTeam = app.redTeam === undefined ? undefined : await attack(input, app, app.redTeam, tools.through);
  return await documentOf(app, suites, repeats, { ...tools, ...(redTeam && { redTeam }) });
}

function writeBaseline(
  input: CommandInput,
  file: string,
  document: EvalDocument,
  suites: readonly EvalSuite[],
): number {
  const refusals = baselineRefusals(document, suites);
  const { output } = input;
  if (refusals.length > 0) {
    output.line({ text: "BASELINE: REFUSED", style: "red" });
    for (const problem of refusals) {
      output.line(`  - ${problem}`);
    }
    return 1;
  }
  writeWhole(input, file, jsonOf(document));
  output.progress(`wrote ${file}`);
  return 0;
}

async function judge(
  input: CommandInput,
  app: AnyApp,
  document: EvalDocument,
  suites: readonly EvalSuite[],
): Promise<number> {
  const named = baselineFile(input, app);
  const isMissing = named !== undefined && !existsSync(named);
  const baseline = named === undefined || isMissing ? undefined : readBaseline(named);
  const verdict = gateDocument(document, {
    ...{ thresholds: app.evals?.gate ?? DEFAULT_THRESHOLDS, suites, baseline },
    ...(app.redTeam && { redTeam: await redTeamIds(app.redTeam) }),
  });
  const failures = isMissing
    ? [{ stage: "evidence" as const, problem: `the baseline ${named} is not there` }, ...verdict.failures]
    : verdict.failures;
  const whole = { ...verdict, failures, passed: failures.length === 0 };
  if (hasFlag(input, "json")) {
    input.output.json(whole, 2);
  } else {
    printVerdict(input, whole);
  }
  writeResults(input, document, { isKept: false, verdict: whole });
  return whole.passed ? 0 : 1;
}

function baselineFile(input: CommandInput, app: AnyApp): string | undefined {
  const given = textOption(input, "baseline");
  const own = app.evals?.baseline;
  return given === undefined ? own && fileURLToPath(own) : resolve(input.cwd, given);
}

function readBaseline(file: string): EvalDocument {
  return parseDocument(readFileSync(file, "utf8"), file);
}

function printVerdict({ output }: CommandInput, { passed, failures, notes }: DocumentVerdict): void {
  for (const note of notes) {
    output.line(note);
  }
  output.line({ text: passed ? "GATE: PASS" : "GATE: FAIL", style: passed ? "green" : "red" });
  for (const { stage, problem } of failures) {
    output.line(`  - ${stage}: ${problem}`);
  }
}
