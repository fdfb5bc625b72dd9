import { allBite, formatVacuity, openSuite, suiteVacuity } from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { allSuites, evalApp, runSuites, SUITE_OPTIONS } from "./eval-suites.ts";
import { printText } from "./print-text.ts";

export const vacuityCommand: Command = {
  name: "vacuity",
  summary: "spoil what the cases of an app did, and name the cases that do not notice",
  positionals: [{ name: "app" }],
  options: {
    suite: { type: "string", value: "name", help: "only this suite (default all)" },
    ...SUITE_OPTIONS,
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: ["vacuity shop", "vacuity stockroom --suite reference --json"],
  run: async (input) => {
    const app = await evalApp(input);
    const suite = textOption(input, "suite");
    const suites = suite === undefined ? allSuites(app) : [suite];
    const [results = []] = await runSuites(input, app, suites, 1);
    const found = await Promise.all(
      results.map(async (result) => suiteVacuity(app, await openSuite(app, result.suite), result)),
    );
    const cases = found.flat();
    if (hasFlag(input, "json")) {
      input.output.json({ app: app.name, passed: allBite(cases), cases }, 2);
    } else {
      printText(input.output, formatVacuity(cases));
    }
    return allBite(cases) ? 0 : 1;
  },
};
