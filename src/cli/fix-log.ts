import { writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { fixLogSvg, formatFixLog, runFixLog } from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { bar, evalApp, parallelOf, SUITE_OPTIONS } from "./eval-suites.ts";
import { printText } from "./print-text.ts";

export const fixLogCommand: Command = {
  name: "fix-log",
  summary: "mend an app's weaknesses one by one, and show what each was worth",
  positionals: [{ name: "app" }],
  options: {
    suite: { type: "string", value: "name", help: "suite of the app (default reference)" },
    svg: { type: "string", value: "file", help: "also write the chart, as SVG" },
    parallel: SUITE_OPTIONS.parallel,
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: ["fix-log stockroom", "fix-log stockroom --svg fix-log.svg"],
  run: async (input) => {
    const app = await evalApp(input);
    const suite = textOption(input, "suite");
    const log = await runFixLog(app, {
      ...parallelOf(input),
      ...(suite !== undefined && { suite }),
      onProgress: (done, total) => input.output.transient(`builds: ${bar(done, total)} ${done} of ${total}`),
    });
    input.output.transient("");
    if (hasFlag(input, "json")) {
      input.output.json(log, 2);
    } else {
      printText(input.output, formatFixLog(log));
    }
    const svg = textOption(input, "svg");
    if (svg !== undefined) {
      writeFileSync(resolve(input.cwd, svg), fixLogSvg(log));
    }
    return 0;
  },
};
