import type { AnyApp } from "../config.ts";
import { BelayError } from "../errors.ts";
import type { CaseResult } from "./case-result.ts";
import { runCase, type Through } from "./run-case.ts";
import type { EvalCase, EvalSuite } from "./suite.ts";

export interface RunSuiteOptions {
  /** Cases at a time. Default 4. */
  readonly parallel?: number;
  /** Ids of controls to leave out, such as `rule:named_order`; the result then shows what they are good for. */
  readonly without?: readonly string[];
  /** Ids of the cases to run; default all. */
  readonly only?: readonly string[];
  /** Asked anew for each case. Absent: the tools run where the app put them. */
  readonly through?: Through;
  readonly onProgress?: (done: number, total: number, last: CaseResult) => void;
}

export interface SuiteResult {
  readonly app: string;
  readonly suite: string;
  readonly without: readonly string[];
  /** In the order of the suite, whatever order they ended in. */
  readonly cases: readonly CaseResult[];
}

const PARALLEL = 4;

/**
 * Runs a suite of an application, each case in a fresh world.
 *
 * Throws `BELAY_EVAL_SUITE_UNKNOWN` for a suite that the app does not have, and `BELAY_EVAL_CASE` for a case that the
 * suite does not have. Rejects with the error of the first case that cannot be set up.
 */
export async function runSuite(app: AnyApp, suiteName: string, options: RunSuiteOptions = {}): Promise<SuiteResult> {
  const { parallel = PARALLEL, without = [], only, through, onProgress } = options;
  const suite = await openSuite(app, suiteName);
  const cases = only === undefined ? suite.cases : only.map((id) => findCase(suite, id));
  const results: CaseResult[] = [];
  let next = 0;
  let done = 0;
  const runNext = async (): Promise<void> => {
    for (let at = next++; at < cases.length; at = next++) {
      const evalCase = cases[at];
      if (evalCase === undefined) {
        return;
      }
      const result = await runCase({ app, suite, case: evalCase, without, ...(through && { through }) });
      results[at] = result;
      done += 1;
      onProgress?.(done, cases.length, result);
    }
  };
  await Promise.all(Array.from({ length: Math.max(1, Math.min(parallel, cases.length)) }, runNext));
  return { app: app.name, suite: suiteName, without, cases: results };
}

/** One suite of an app. Throws `BELAY_EVAL_SUITE_UNKNOWN`, and `BELAY_EVAL_CASE` for cases that cannot be right. */
export async function openSuite(app: AnyApp, name: string): Promise<EvalSuite> {
  const suites = app.suites ?? {};
  const load = Object.hasOwn(suites, name) ? suites[name] : undefined;
  if (load === undefined) {
    const names = Object.keys(suites).join(", ") || "none";
    throw new BelayError(
      "BELAY_EVAL_SUITE_UNKNOWN",
      `The app ${app.name} has no suite ${JSON.stringify(name)}. It has: ${names}.`,
    );
  }
  return load();
}

function findCase(suite: EvalSuite, id: string): EvalCase {
  const found = suite.cases.find((evalCase) => evalCase.id === id);
  if (found === undefined) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `The suite ${suite.name} has no case ${JSON.stringify(id)}. Its ${suite.cases.length} cases begin with ` +
        `${suite.cases
          .slice(0, 5)
          .map((evalCase) => evalCase.id)
          .join(", ")}.`,
    );
  }
  return found;
}
