import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import type { AnyApp } from "../config.ts";
import {
  type DocumentVerdict,
  type EvalDocument,
  type EvalSuite,
  FULL_THRESHOLDS,
  formatStatistics,
  gateDocument,
  type JudgedSuite,
  openSuite,
  parseDocument,
  replayModel,
  type SuiteResult,
} from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { chosenJudge, JUDGE_MODEL_OPTION, JUDGE_OPTION, judgedLines, judgedSuites } from "./eval-judge.ts";
import { isStrictReplay, REPLY_OPTIONS, withReplies } from "./eval-replies.ts";
import { documentOf, REPEATS_OPTION, repeatsOf, runSuites, SUITE_OPTIONS } from "./eval-suites.ts";
import { loadApp } from "./load-config.ts";
import { type ChosenModel, chosenModel, MODEL_OPTIONS } from "./model-option.ts";
import { printText } from "./print-text.ts";
import { projectConfig } from "./project.ts";
import { OUT_OPTION, REPORT_OPTIONS, writeResults } from "./results.ts";
import { usageError } from "./usage.ts";

const SUITE = "reference";

export const liveCommand: Command = {
  name: "live",
  summary: "run the cases that a model answers by itself with a real model, and report intervals",
  positionals: [{ name: "app" }],
  options: {
    ...MODEL_OPTIONS,
    ...REPEATS_OPTION,
    parallel: SUITE_OPTIONS.parallel,
    baseline: { type: "string", value: "file", help: "document of an earlier live run, to pair the cases with" },
    ...JUDGE_OPTION,
    ...JUDGE_MODEL_OPTION,
    ...REPLY_OPTIONS,
    ...OUT_OPTION,
    ...REPORT_OPTIONS,
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: [
    "live stockroom --model bedrock:us.amazon.nova-lite-v1:0 --allow-network --repeats 3 --out results.json",
    "live stockroom --model openai:gpt-5 --allow-network --record replies --judge v3",
    "live stockroom --replay replies --strict --baseline results.json",
  ],
  run: async (input) => {
    const [name = ""] = input.positionals;
    // A rubric that is not there must not be found out after the model was paid.
    await chosenJudge(input);
    const baseline = baselineOf(input);
    const own = await liveApp(await loadApp(await projectConfig(input), name), await liveModel(input));
    const { app, problems } = withReplies(input, own);
    const repeats = await runSuites(input, app, [SUITE], repeatsOf(input));
    const { judged } = await judgedSuites(input, app, [SUITE], repeats.flat());
    const { document, opened } = await documentOf(app, [SUITE], repeats, {
      ...{ transport: "local", mode: "live" as const },
      ...(judged && { judged }),
    });
    const verdict = verdictOf(app, document, opened, baseline);
    report(input, { document, verdict, repeats, judged });
    writeResults(input, document, { isKept: true, verdict });
    for (const problem of problems()) {
      input.output.progress(`replay: ${problem}`);
    }
    return verdict.passed && problems().length === 0 ? 0 : 1;
  },
};

/** The model to ask; with a strict replay the one whose replies were kept, which is then never asked. */
async function liveModel(input: CommandInput): Promise<ChosenModel> {
  const replay = textOption(input, "replay");
  const chosen = await chosenModel(input);
  if (chosen !== undefined) {
    return chosen;
  }
  if (replay !== undefined && isStrictReplay(input)) {
    return { client: replayModel(replay), prices: {} };
  }
  throw usageError(
    "A live run needs a model. Give --model, --replay with --strict, or use belay eval, which needs none.",
  );
}

/** A committed baseline is one of the offline model, with which nothing live can be compared; so it must be named. */
function baselineOf(input: CommandInput): EvalDocument | undefined {
  const file = textOption(input, "baseline");
  if (file === undefined) {
    return undefined;
  }
  let text: string;
  try {
    text = readFileSync(resolve(input.cwd, file), "utf8");
  } catch {
    throw usageError(`The baseline ${file} cannot be read. Correct its path.`);
  }
  return parseDocument(text, file);
}

function verdictOf(
  app: AnyApp,
  document: EvalDocument,
  suites: readonly EvalSuite[],
  baseline: EvalDocument | undefined,
): DocumentVerdict {
  return gateDocument(document, { thresholds: app.evals?.gate ?? FULL_THRESHOLDS, suites, baseline });
}

interface LiveReport {
  readonly document: EvalDocument;
  readonly verdict: DocumentVerdict;
  readonly repeats: readonly (readonly SuiteResult[])[];
  readonly judged: readonly JudgedSuite[] | undefined;
}

function report(input: CommandInput, { document, verdict, repeats, judged = [] }: LiveReport): void {
  if (hasFlag(input, "json")) {
    input.output.json({ ...verdict, document }, 2);
    return;
  }
  printText(input.output, formatStatistics(repeats.flat()));
  for (const line of [...judgedLines(judged), ...verdict.notes]) {
    input.output.line(line);
  }
  input.output.line(verdict.passed ? "INVARIANTS: PASS" : "INVARIANTS: FAIL");
  verdict.failures.forEach(({ stage, problem }) => void input.output.line(`  - ${stage}: ${problem}`));
}

/**
 * The app with a real model in the place of its offline one, and the cases that say which tools to choose, without
 * their scripts. Throws `BELAY_USAGE` when there is no such case.
 */
export async function liveApp(app: AnyApp, { client, prices }: ChosenModel): Promise<AnyApp> {
  const suite = await openSuite(app, SUITE);
  const cases = suite.cases
    .filter(({ expectedTools }) => expectedTools !== undefined)
    .map(({ script: _script, mockScript: _mock, ...evalCase }) => evalCase);
  if (cases.length === 0) {
    throw usageError(`No case of ${app.name} says which tools a model should choose, so there is nothing to run live.`);
  }
  const live: EvalSuite = { ...suite, cases };
  return {
    ...app,
    offlineModel: () => client,
    prices: { ...app.prices, ...prices },
    suites: { [SUITE]: async () => live },
  };
}
