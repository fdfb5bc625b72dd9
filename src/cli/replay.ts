import { formatReplay, replayDecisions } from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, DATABASE_OPTIONS, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { loadApp } from "./load-config.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { printText } from "./print-text.ts";
import { appNameOfAgent, projectConfig } from "./project.ts";
import { readRun } from "./show.ts";

export const replayCommand: Command = {
  name: "replay",
  summary: "decide a recorded run again by today's rules, without running anything",
  positionals: [{ name: "run" }],
  options: {
    policy: { type: "string", value: "app", help: "app whose rules decide (default the app of the run)" },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
    ...CONFIG_OPTIONS,
  },
  examples: ["replay run_1", "replay run_1 --policy shop --json"],
  run: async (input) => {
    const place = placeOf(input);
    const [runId = ""] = input.positionals;
    const run = { tenant: place.tenant, runId };
    const { state, entries } = await withStore(openStore(place), (store) => readRun(store, run));
    const config = await projectConfig(input);
    const name = textOption(input, "policy") ?? (await appNameOfAgent(config, state.agent.name));
    const report = await replayDecisions(await loadApp(config, name), run, entries);
    if (hasFlag(input, "json")) {
      input.output.json(report, 2);
    } else {
      printText(input.output, formatReplay(report));
    }
    return report.calls.some(({ isChanged }) => isChanged) ? 1 : 0;
  },
};
