import { BelayError } from "../errors.ts";
import type { UndoneCall, UndoReport } from "../gate/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  DATABASE_OPTIONS,
  hasFlag,
  JSON_OPTION,
  textOption,
} from "./command.ts";
import type { LoadedConfig } from "./load-config.ts";
import type { Output } from "./output.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { appNameOfAgent, findPerson, openApp, projectConfig } from "./project.ts";
import { readRun } from "./show.ts";
import { usageError } from "./usage.ts";

export const rollbackCommand: Command = {
  name: "rollback",
  summary: "take back what a run did, last effect first, as far as its tools can; again to go on",
  positionals: [{ name: "run" }],
  options: {
    to: {
      type: "string",
      value: "step",
      help: "keep what was done up to and including this step (default 0: nothing)",
    },
    by: {
      type: "string",
      value: "person",
      help: "person of the configuration who wants it (operator, approver, admin)",
    },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
    ...CONFIG_OPTIONS,
  },
  examples: ["rollback run_1 --by dana", "rollback run_1 --to 2 --by dana --json"],
  run: async (input) => {
    const place = placeOf(input);
    const [runId = ""] = input.positionals;
    const by = textOption(input, "by");
    if (by === undefined) {
      throw usageError("Taking a run back needs --by <person>.");
    }
    const to = stepOf(textOption(input, "to"));
    const config = await projectConfig(input);
    checkPerson(config, by);
    return withStore(openStore(place), async (store) => {
      const run = { tenant: place.tenant, runId };
      const { row } = await readRun(store, run);
      const opened = await openApp(
        config,
        await appNameOfAgent(config, row.agent),
        place,
        store,
        input.output.progress,
      );
      try {
        const report = await opened.undo().undo(run, { by: { kind: "person", id: by }, to, signal: input.signal });
        return printReport(input, report);
      } finally {
        opened.close();
      }
    });
  },
};

function stepOf(text: string | undefined): number {
  if (text !== undefined && !/^\d{1,9}$/.test(text)) {
    throw usageError(`--to needs the number of a step, 0 or more, not ${JSON.stringify(text)}.`);
  }
  return Number(text ?? 0);
}

function checkPerson(config: LoadedConfig, id: string): void {
  const roles = findPerson(config, id)?.roles ?? [];
  if (roles.some((role) => role !== "viewer")) {
    return;
  }
  throw new BelayError(
    "BELAY_NOT_PERMITTED",
    `${JSON.stringify(id)} is no operator, approver or admin of ${config.file} and may not take back what was done.`,
  );
}

/** 0 when everything is taken back or waits for a person, 1 when something is left that this command cannot mend. */
function printReport(input: CommandInput, report: UndoReport): number {
  if (hasFlag(input, "json")) {
    input.output.json(report, 2);
  } else {
    printCalls(input.output, report);
  }
  const isLeft = report.calls.some(({ status }) => !["undone", "waiting", "blocked"].includes(status));
  return isLeft ? 1 : 0;
}

function printCalls(output: Output, { runId, calls, isWhole }: UndoReport): void {
  output.line({ text: `rollback of ${runId}`, style: "bold" });
  for (const call of calls) {
    printCall(output, call);
  }
  if (calls.length === 0) {
    output.line("  nothing was changed there, so there is nothing to take back");
  }
  for (const { approvalId } of calls) {
    if (approvalId !== undefined) {
      output.line(`answer with: belay approve ${approvalId} --by <person>; then run belay rollback again`);
    }
  }
  if (!isWhole) {
    output.line({ text: "not everything is taken back", style: "yellow" });
  }
}

function printCall(output: Output, { callId, step, tool, status, code, reason }: UndoneCall): void {
  const style = status === "undone" ? "green" : status === "waiting" || status === "blocked" ? "yellow" : "red";
  output.line(`  ${step}  ${callId}  `, { text: status.padEnd(10), style }, `  ${tool}`);
  if (code !== undefined) {
    output.line(`       ${code}: ${reason ?? ""}`);
  }
}
