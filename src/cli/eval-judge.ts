import type { AnyApp } from "../config.ts";
import {
  fakeJudge,
  type Judge,
  type JudgedSuite,
  judgedShare,
  judgeSuite,
  modelJudge,
  openSuite,
  readRubric,
  type SuiteResult,
  wilson,
} from "../evals/index.ts";
import { type CommandInput, hasFlag, type OptionSpec, textOption } from "./command.ts";
import { resolveModel } from "./model-spec.ts";
import { usageError } from "./usage.ts";

export const JUDGE_OPTION: Readonly<Record<"judge", OptionSpec>> = {
  judge: { type: "string", value: "rubric", help: "also have the answers judged by this rubric (v1, v2 or v3)" },
};

export const JUDGE_MODEL_OPTION: Readonly<Record<"judge-model", OptionSpec>> = {
  "judge-model": {
    type: "string",
    value: "model",
    help: "with --judge: the model that judges (default the offline judge)",
  },
};

/** The judge that the options name; nothing when none was asked for. Throws `BELAY_USAGE`, and for an unknown rubric. */
export async function chosenJudge(input: CommandInput): Promise<Judge | undefined> {
  const [rubric, model] = [textOption(input, "judge"), textOption(input, "judge-model")];
  if (rubric === undefined) {
    if (model !== undefined) {
      throw usageError("--judge-model judges by a rubric. Give --judge with one, such as v3.");
    }
    return undefined;
  }
  const version = readRubric(rubric);
  if (model === undefined) {
    return fakeJudge(version);
  }
  const client = await resolveModel(model, { allowNetwork: hasFlag(input, "allow-network"), env: process.env });
  return modelJudge(client, version);
}

/** Has every suite judged; nothing without a judge. */
export async function judgedSuites(
  input: CommandInput,
  app: AnyApp,
  suites: readonly string[],
  results: readonly SuiteResult[],
): Promise<{ readonly judged?: readonly JudgedSuite[] }> {
  const judge = await chosenJudge(input);
  if (judge === undefined) {
    return {};
  }
  const judged: JudgedSuite[] = [];
  for (const name of suites) {
    input.output.transient(`${judge.id} reads the answers of ${name}`);
    judged.push(await judgeSuite(judge, await openSuite(app, name), results, { signal: input.signal }));
  }
  input.output.transient("");
  return { judged };
}

/** One line for each suite with judged answers, and the answers that did not pass. */
export function judgedLines(judged: readonly JudgedSuite[]): readonly string[] {
  return judged
    .filter(({ grades }) => grades.length > 0)
    .flatMap((each) => {
      const { judge, suite, grades } = each;
      const passed = grades.filter(({ verdict }) => verdict === "pass").length;
      const { low, high } = wilson(passed, grades.length);
      return [
        `${suite} judged by ${judge}: ${passed} of ${grades.length} answers pass ` +
          `(${(judgedShare(each) ?? 0).toFixed(3)}, Wilson 95% ${low.toFixed(3)}-${high.toFixed(3)})`,
        ...grades
          .filter(({ verdict }) => verdict !== "pass")
          .map(({ id, verdict, reason }) => `  ${id} ${verdict}: ${reason}`),
      ];
    });
}
