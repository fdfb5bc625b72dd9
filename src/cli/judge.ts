import { calibrate, fakeJudge, formatCalibration, RUBRIC_VERSIONS, readRubric } from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { loadApp } from "./load-config.ts";
import { printText } from "./print-text.ts";
import { projectConfig } from "./project.ts";
import { usageError } from "./usage.ts";

export const judgeCommand: Command = {
  name: "judge",
  summary: "hold the offline judge against the answers that people graded",
  positionals: [{ name: "app" }],
  options: {
    rubric: { type: "string", value: "version", help: `one of ${RUBRIC_VERSIONS.join(", ")} (default all)` },
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: ["judge stockroom", "judge stockroom --rubric v2 --json"],
  run: async (input) => {
    const [name = ""] = input.positionals;
    const app = await loadApp(await projectConfig(input), name);
    const items = await app.calibration?.();
    if (items === undefined) {
      throw usageError(`The app ${app.name} has no graded answers. Give it some with "calibration".`);
    }
    const rubric = textOption(input, "rubric");
    const versions = rubric === undefined ? RUBRIC_VERSIONS : [readRubric(rubric)];
    const found = await Promise.all(
      versions.map((version) => calibrate(fakeJudge(version), items, { signal: input.signal })),
    );
    if (hasFlag(input, "json")) {
      input.output.json(found, 2);
    } else {
      printText(input.output, found.map(formatCalibration).join(""));
    }
    return 0;
  },
};
