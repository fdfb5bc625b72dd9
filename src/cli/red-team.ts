import type { AnyApp } from "../config.ts";
import { formatRedTeam, type RedTeam, type RedTeamResult, runRedTeam, type Through } from "../evals/index.ts";
import { CONFIG_OPTIONS, type Command, type CommandInput, hasFlag, JSON_OPTION } from "./command.ts";
import { bar, evalApp, SUITE_OPTIONS } from "./eval-suites.ts";
import { printText } from "./print-text.ts";
import { usageError } from "./usage.ts";

export const redTeamCommand: Command = {
  name: "red-team",
  summary: "attack an app, and run the ordinary cases that must still work",
  positionals: [{ name: "app" }],
  options: {
    weaknesses: SUITE_OPTIONS.weaknesses,
    ...JSON_OPTION,
    ...CONFIG_OPTIONS,
  },
  examples: ["red-team stockroom", "red-team stockroom --json"],
  run: async (input) => {
    const app = await evalApp(input);
    if (app.redTeam === undefined) {
      throw usageError(`The app ${app.name} has no attacks. Give it some with "redTeam".`);
    }
    const result = await attack(input, app, app.redTeam);
    if (hasFlag(input, "json")) {
      input.output.json(result, 2);
    } else {
      printText(input.output, formatRedTeam(result));
    }
    return result.passed === result.total ? 0 : 1;
  },
};

/** Runs an app's red team with a bar on stderr. */
export async function attack(
  { output }: CommandInput,
  app: AnyApp,
  redTeam: RedTeam,
  through?: Through,
): Promise<RedTeamResult> {
  const result = await runRedTeam(
    ...([app, redTeam] as const),
    (done, total) => output.transient(`red team: ${bar(done, total)} ${done} of ${total}`),
    through,
  );
  output.transient("");
  return result;
}
