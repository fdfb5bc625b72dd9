import type { AnyApp } from "../config.ts";
import {
  createDocument,
  type DocumentInput,
  type EvalDocument,
  type EvalSuite,
  openSuite,
  runSuite,
  type SuiteResult,
} from "../evals/index.ts";
import { type CommandInput, type OptionSpec, textOption } from "./command.ts";
import type { EvalTools } from "./eval-tools.ts";
import { loadApp } from "./load-config.ts";
import { packageVersion } from "./package-version.ts";
import { projectConfig } from "./project.ts";
import { usageError, wholeNumber } from "./usage.ts";

const PARALLEL_MAX = 64;
const REPEATS_MAX = 1000;

export const SUITE_OPTIONS: Readonly<Record<"weaknesses" | "parallel", OptionSpec>> = {
  weaknesses: { type: "string", value: "a,b", help: "faults that the app builds in on purpose" },
  parallel: { type: "string", value: "n", help: "cases at a time (default 4)" },
};

export const REPEATS_OPTION: Readonly<Record<"repeats", OptionSpec>> = {
  repeats: { type: "string", value: "n", help: "how often each suite runs (default 1)" },
};

/** The app that the command names, with the weaknesses that it asks for. */
export async function evalApp(input: CommandInput): Promise<AnyApp> {
  const [name = ""] = input.positionals;
  const app = await loadApp(await projectConfig(input), name);
  const weaknesses = textOption(input, "weaknesses");
  if (weaknesses === undefined) {
    return app;
  }
  if (app.configure === undefined) {
    throw usageError(`The app ${app.name} has no weaknesses to switch on. Leave out --weaknesses.`);
  }
  return app.configure({ weaknesses });
}

export function repeatsOf(input: CommandInput): number {
  return wholeNumber("--repeats", textOption(input, "repeats") ?? "1", 1, REPEATS_MAX);
}

/** `--parallel` as an option of a run; nothing when it was not given. */
export function parallelOf(input: CommandInput): { readonly parallel?: number } {
  const parallel = textOption(input, "parallel");
  return parallel === undefined ? {} : { parallel: wholeNumber("--parallel", parallel, 1, PARALLEL_MAX) };
}

/** Names of all suites of an app; throws `BELAY_USAGE` when it has none. */
export function allSuites(app: AnyApp): readonly string[] {
  const suites = Object.keys(app.suites ?? {});
  if (suites.length === 0) {
    throw usageError(`The app ${app.name} has no suites to run. Give it some with "suites".`);
  }
  return suites;
}

/** Runs suites one after the other, `repeats` times, with a bar on stderr. One list for each repeat. */
export async function runSuites(
  input: CommandInput,
  app: AnyApp,
  suites: readonly string[],
  repeats: number,
  { through }: Pick<EvalTools, "through"> = {},
): Promise<readonly (readonly SuiteResult[])[]> {
  const only = textOption(input, "case");
  const all: SuiteResult[][] = [];
  for (let repeat = 1; repeat <= repeats; repeat += 1) {
    const results: SuiteResult[] = [];
    for (const suite of suites) {
      const where = repeats === 1 ? suite : `${suite} (run ${repeat} of ${repeats})`;
      const result = await runSuite(app, suite, {
        ...parallelOf(input),
        ...(only !== undefined && { only: [only] }),
        ...(through && { through }),
        onProgress: (done, total) => input.output.transient(`${where}: ${bar(done, total)} ${done} of ${total}`),
      });
      results.push(result);
    }
    all.push(results);
  }
  input.output.transient("");
  return all;
}

const BAR_CELLS = 20;

export function bar(done: number, total: number): string {
  const full = Math.round((done / Math.max(1, total)) * BAR_CELLS);
  return `[${"#".repeat(full)}${"-".repeat(BAR_CELLS - full)}]`;
}

/** Puts results into one document; the suites are read once more, so that it says what this checkout holds. */
export async function documentOf(
  app: AnyApp,
  suites: readonly string[],
  repeats: readonly (readonly SuiteResult[])[],
  made: Pick<EvalTools, "transport"> & Pick<DocumentInput, "judged" | "mode" | "redTeam">,
): Promise<{ readonly document: EvalDocument; readonly opened: readonly EvalSuite[] }> {
  const opened = await Promise.all(suites.map((name) => openSuite(app, name)));
  const document = createDocument({
    ...{ app, suites: opened, repeats },
    ...{ transport: made.transport, ...(made.mode && { mode: made.mode }) },
    ...(made.judged && { judged: made.judged }),
    ...(made.redTeam && { redTeam: made.redTeam }),
    ...{ belayVersion: packageVersion(), at: Date.now() },
  });
  return { document, opened };
}
