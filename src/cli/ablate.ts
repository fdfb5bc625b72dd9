import { ablate, formatKillMatrix, isWholeMatrix, type KillMatrix, openSuite } from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { allSuites, bar, evalApp, parallelOf, SUITE_OPTIONS } from "./eval-suites.ts";
import { besideResults, jsonOf, OUT_OPTION, resultStem, writeWhole } from "./results.ts";
import { terminalLines } from "./terminal-text.ts";

export const ablateCommand: Command = {
  name: "ablate",
  summary: "leave out every control of an app, one at a time, and show which scenarios fail",
  positionals: [{ name: "app" }],
  options: {
    pairs: { type: "boolean", help: "also leave out two at a time, to show which stand in for each other" },
    control: { type: "string", value: "a,b", help: "only these, and only pairs with one of them" },
    ...SUITE_OPTIONS,
    ...OUT_OPTION,
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: ["ablate shop", "ablate shop --pairs --control guard:stable_key", "ablate stockroom --json"],
  run: async (input) => {
    const app = await evalApp(input);
    const suites = await Promise.all(allSuites(app).map((name) => openSuite(app, name)));
    const only = textOption(input, "control")
      ?.split(",")
      .map((id) => id.trim());
    const matrix = await ablate(app, suites, {
      ...parallelOf(input),
      ...(only && { only }),
      withPairs: hasFlag(input, "pairs"),
      onProgress: (done, total, what) => input.output.transient(`${bar(done, total)} ${done} of ${total}: ${what}`),
    });
    input.output.transient("");
    if (hasFlag(input, "json")) {
      input.output.json(matrix, 2);
    } else {
      for (const line of terminalLines(formatKillMatrix(matrix)).slice(0, -1)) {
        input.output.line(line);
      }
    }
    writeMatrix(input, matrix, only);
    return isWholeMatrix(matrix) ? 0 : 1;
  },
};

/** Keeps the matrix where the console finds it; a part of one would look like a whole one there. */
function writeMatrix(input: CommandInput, matrix: KillMatrix, only: readonly string[] | undefined): void {
  const out = textOption(input, "out");
  if (only !== undefined && out === undefined) {
    return;
  }
  const date = new Date().toISOString();
  const file = out?.endsWith(".json") ? out : besideResults(input, resultStem(date, matrix.app, "ablation"), "json");
  if (file !== undefined) {
    writeWhole(input, file, jsonOf({ ...matrix, date }));
    input.output.progress(`wrote ${file}`);
  }
}
