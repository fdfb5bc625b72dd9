import type { AnyApp } from "../config.ts";
import { fixLogSvg, formatFixLog, runFixLog } from "../evals/index.ts";
import { type CommandInput, hasFlag, textOption } from "./command.ts";
import { bar, parallelOf } from "./eval-suites.ts";
import { printText } from "./print-text.ts";
import { besideResults, resultStem, writeWhole } from "./results.ts";

/** Mends an app's weaknesses one by one, prints what each was worth, and draws it. */
export async function printFixLog(input: CommandInput, app: AnyApp): Promise<void> {
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
  const stem = resultStem(new Date().toISOString(), app.name, "fix-log");
  const svg = textOption(input, "svg") ?? besideResults(input, stem, "svg");
  if (svg !== undefined) {
    writeWhole(input, svg, fixLogSvg(log));
    input.output.progress(`wrote ${svg}`);
  }
}
