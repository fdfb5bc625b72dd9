import type { RunRow } from "../journal/index.ts";
import { CONFIG_OPTIONS, type Command, DATABASE_OPTIONS, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { agentNameOfApp, projectConfig } from "./project.ts";
import { timeText } from "./run-result.ts";
import { choice, wholeNumber } from "./usage.ts";

const LIMIT = 20;
const LIMIT_MAX = 1000;
const INPUT_SHOWN_MAX = 60;

export const runsCommand: Command = {
  name: "runs",
  summary: "list runs, newest first",
  positionals: [],
  options: {
    status: { type: "string", value: "status", help: "only running, waiting, done or failed" },
    "in-doubt": { type: "boolean", help: "only runs with a call of which nobody knows whether it happened" },
    app: { type: "string", value: "app", help: "only runs of this app" },
    limit: { type: "string", value: "n", help: `at most so many (default ${LIMIT})` },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
    ...CONFIG_OPTIONS,
  },
  examples: ["runs", "runs --status waiting", "runs --in-doubt", "runs --app shop --limit 100 --json"],
  run: async (input) => {
    const { output } = input;
    const status = textOption(input, "status");
    const app = textOption(input, "app");
    const query = {
      limit: wholeNumber("--limit", textOption(input, "limit") ?? String(LIMIT), 1, LIMIT_MAX),
      ...(status !== undefined && { status: choice("status", status, ["running", "waiting", "done", "failed"]) }),
      ...(hasFlag(input, "in-doubt") && { inDoubt: true as const }),
      ...(app !== undefined && { agent: await agentNameOfApp(await projectConfig(input), app) }),
    };
    const place = placeOf(input);
    const rows = await withStore(openStore(place), (store) => store.runs({ tenant: place.tenant, ...query }));
    if (hasFlag(input, "json")) {
      output.json(rows, 2);
      return 0;
    }
    for (const row of rows) {
      const style = row.status === "failed" ? "red" : row.status === "done" ? "green" : "yellow";
      output.line(row.runId, "  ", { text: row.status.padEnd(7), style }, `  ${summaryOf(row)}`);
    }
    if (rows.length === 0) {
      output.progress("No run matches.");
    }
    return 0;
  },
};

function summaryOf(row: RunRow): string {
  const message = row.input.length > INPUT_SHOWN_MAX ? `${row.input.slice(0, INPUT_SHOWN_MAX)}…` : row.input;
  const end = row.termination === undefined ? "" : `  ${row.termination}`;
  const doubt = row.inDoubt === undefined ? "" : `  in doubt: ${row.inDoubt.join(", ")}`;
  return `${timeText(row.startedAt)}  ${row.agent}  ${row.principal.id}${end}${doubt}  ${JSON.stringify(message)}`;
}
