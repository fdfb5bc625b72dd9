import { mkdirSync, writeFileSync } from "node:fs";
import { dirname, resolve } from "node:path";
import type { AnyApp } from "../config.ts";
import {
  createDocument,
  type EvalSuite,
  FULL_THRESHOLDS,
  formatStatistics,
  gateDocument,
  openSuite,
  type SuiteResult,
} from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { REPEATS_OPTION, repeatsOf, runSuites, SUITE_OPTIONS } from "./eval-suites.ts";
import { loadApp } from "./load-config.ts";
import { type ChosenModel, chosenModel, MODEL_OPTIONS } from "./model-option.ts";
import { packageVersion } from "./package-version.ts";
import { printText } from "./print-text.ts";
import { projectConfig } from "./project.ts";
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
    out: { type: "string", value: "file", help: "write the document of results, as JSON" },
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: ["live stockroom --model bedrock:us.amazon.nova-lite-v1:0 --allow-network --repeats 3 --out results.json"],
  run: async (input) => {
    const [name = ""] = input.positionals;
    const chosen = await chosenModel(input);
    if (chosen === undefined) {
      throw usageError("A live run needs a model. Give --model, or use belay eval, which needs none.");
    }
    const app = await liveApp(await loadApp(await projectConfig(input), name), chosen);
    const suite = await openSuite(app, SUITE);
    const repeats = await runSuites(input, app, [SUITE], repeatsOf(input));
    const document = createDocument({
      ...{ app, suites: [suite], repeats, mode: "live" },
      ...{ belayVersion: packageVersion(), at: Date.now() },
    });
    const out = textOption(input, "out");
    if (out !== undefined) {
      mkdirSync(dirname(resolve(input.cwd, out)), { recursive: true });
      writeFileSync(resolve(input.cwd, out), `${JSON.stringify(document, null, 2)}\n`);
    }
    // A committed baseline is one of the offline model, with which nothing live can be compared.
    const verdict = gateDocument(document, {
      thresholds: app.evals?.gate ?? FULL_THRESHOLDS,
      suites: [suite],
      baseline: undefined,
    });
    if (hasFlag(input, "json")) {
      input.output.json({ ...verdict, document }, 2);
    } else {
      printText(input.output, formatStatistics(repeats.flat() satisfies readonly SuiteResult[]));
      verdict.notes.forEach((note) => void input.output.line(note));
      input.output.line(verdict.passed ? "INVARIANTS: PASS" : "INVARIANTS: FAIL");
      verdict.failures.forEach(({ stage, problem }) => void input.output.line(`  - ${stage}: ${problem}`));
    }
    return verdict.passed ? 0 : 1;
  },
};

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
