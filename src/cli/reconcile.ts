import { type JsonValue, parseStrictJson } from "../core/index.ts";
import type { Harness, LookupOutcome, ReconcileOutcome, ReconcileRequest } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey, RunRow, Store } from "../journal/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  DATABASE_OPTIONS,
  hasFlag,
  JSON_OPTION,
  textOption,
} from "./command.ts";
import { checkPerson } from "./decide.ts";
import { wordOf } from "./doubt-text.ts";
import { openStore, type Place, placeOf, withStore } from "./place.ts";
import { appNameOfAgent, harnessOf, openApp, projectConfig } from "./project.ts";
import { timeText } from "./run-result.ts";
import { readRun } from "./show.ts";
import { usageError } from "./usage.ts";

type Found = Pick<ReconcileRequest, "outcome" | "value" | "source">;

export const reconcileCommand: Command = {
  name: "reconcile",
  summary: "say what became of a call whose outcome nobody knows; the first word stands",
  positionals: [{ name: "call" }],
  options: {
    happened: { type: "boolean", help: "it happened: its points are spent, and it can be taken back" },
    "did-not-happen": { type: "boolean", help: "it did not happen: its points are given back" },
    lookup: { type: "boolean", help: "ask the tool itself; without --as its answer is only shown" },
    value: { type: "string", value: "json", help: "what the call gave, with --happened; needed to take it back" },
    note: { type: "string", value: "text", help: "how this is known; kept with the decision" },
    as: { type: "string", value: "person", help: "person of the configuration who says so (approver or admin)" },
    run: { type: "string", value: "id", help: "run of the call, when several runs have one of this name in doubt" },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
    ...CONFIG_OPTIONS,
  },
  examples: [
    'reconcile c1.1 --happened --value \'{"receipt":"R-7"}\' --note "bank statement of today" --as dana',
    'reconcile c1.1 --did-not-happen --note "the bank has no such payment" --as dana --run run_1',
    "reconcile c1.1 --lookup",
  ],
  run: reconcile,
};

async function reconcile(input: CommandInput): Promise<number> {
  const given = givenOutcome(input);
  const by = textOption(input, "as");
  const note = textOption(input, "note");
  if (given !== undefined && (by === undefined || note === undefined)) {
    throw usageError("Saying what became of a call needs --as <person> and --note <how this is known>.");
  }
  const place = placeOf(input);
  const config = await projectConfig(input);
  if (by !== undefined) {
    checkPerson(config, by);
  }
  return withStore(openStore(place), async (store) => {
    const [callId = ""] = input.positionals;
    const row = await runOf(input, store, place, callId);
    const run: RunKey = { tenant: row.tenant, runId: row.runId };
    const name = await appNameOfAgent(config, row.agent);
    const opened = await openApp(config, name, place, store, input.output.progress);
    try {
      const harness = harnessOf(opened, row.agent);
      const found = given ?? (await lookedUp(input, harness, run, callId));
      if (by === undefined) {
        return propose(input, run, callId, found);
      }
      const says = note ?? "the tool's own lookup";
      const outcome = await harness.reconcile({ run, callId, ...found, by: { kind: "person", id: by }, note: says });
      return report(input, outcome, run, callId);
    } finally {
      opened.close();
    }
  });
}

function givenOutcome(input: CommandInput): Found | undefined {
  const flags = ["happened", "did-not-happen", "lookup"].filter((name) => hasFlag(input, name));
  const [flag, ...more] = flags;
  if (flag === undefined || more.length > 0) {
    throw usageError("Give one of --happened, --did-not-happen and --lookup.");
  }
  const text = textOption(input, "value");
  if (text !== undefined && flag !== "happened") {
    throw usageError("--value says what the call gave, so it needs --happened.");
  }
  switch (flag) {
    case "happened":
      return { outcome: "happened", ...(text === undefined ? {} : { value: jsonValue(text) }) };
    case "did-not-happen":
      return { outcome: "did_not_happen" };
    default:
      return undefined;
  }
}

function jsonValue(text: string): JsonValue {
  const read = parseStrictJson(text);
  if (!read.ok) {
    throw usageError(`--value is no JSON: ${read.message}. Quote it for the shell: --value '{"receipt":"R-7"}'.`);
  }
  return read.value;
}

/** The run that has the call in doubt; a named run also answers for a call that is not. */
async function runOf(input: CommandInput, store: Store, { tenant }: Place, callId: string): Promise<RunRow> {
  const runId = textOption(input, "run");
  if (runId !== undefined) {
    return (await readRun(store, { tenant, runId })).row;
  }
  const rows = (await store.runs({ tenant, inDoubt: true })).filter((row) => row.inDoubt?.includes(callId));
  const [row, ...others] = rows;
  if (row === undefined) {
    throw new BelayError(
      "BELAY_CALL_NOT_IN_DOUBT",
      `No run of the tenant ${tenant} has a call ${JSON.stringify(callId)} in doubt. See belay runs --in-doubt.`,
    );
  }
  if (others.length > 0) {
    throw usageError(`${rows.length} runs have a call ${callId} in doubt. Name one: --run ${row.runId}`);
  }
  return row;
}

async function lookedUp(input: CommandInput, harness: Harness, run: RunKey, callId: string): Promise<Found> {
  const looked = await harness.lookUp(run, callId, { signal: input.signal });
  if (looked.status === "found") {
    const value = looked.outcome === "happened" ? { value: looked.value } : {};
    return { outcome: looked.outcome, ...value, source: "lookup" };
  }
  throw new BelayError("BELAY_CALL_NOT_IN_DOUBT", notLookedUp(looked, callId));
}

function notLookedUp(looked: Exclude<LookupOutcome, { status: "found" }>, callId: string): string {
  switch (looked.status) {
    case "too_early":
      return `The call ${callId} may still be under way until ${timeText(looked.notBefore)}. Ask again then.`;
    case "unavailable":
      return `The tool of ${callId} gave no clear answer. Ask again later, or look by hand.`;
    case "no_lookup":
      return `The tool of ${callId} has no lookup. Look by hand, then say --happened or --did-not-happen.`;
    default:
      return `The outcome of the call ${callId} is not in doubt. See belay runs --in-doubt.`;
  }
}

function propose(input: CommandInput, run: RunKey, callId: string, found: Found): number {
  const { output } = input;
  if (hasFlag(input, "json")) {
    output.json({ ...run, callId, status: "proposed", ...found }, 2);
    return 0;
  }
  output.line(`${callId} of run ${run.runId} ${wordOf(found.outcome)}, says the tool's lookup; nothing is recorded`);
  output.progress("Record it: the same command with --as <person>.");
  return 0;
}

function report(input: CommandInput, outcome: ReconcileOutcome, run: RunKey, callId: string): number {
  const { output } = input;
  if (hasFlag(input, "json")) {
    output.json({ ...run, callId, ...outcome }, 2);
  }
  switch (outcome.status) {
    case "recorded":
      if (!hasFlag(input, "json")) {
        output.line(`${callId} of run ${run.runId} ${wordOf(outcome.outcome)}: recorded`);
      }
      return 0;
    case "already_reconciled":
      throw new BelayError(
        "BELAY_CALL_NOT_IN_DOUBT",
        `${outcome.by.id} said at ${timeText(outcome.at)} that ${callId} ${wordOf(outcome.outcome)}. The first word stands; nothing was changed.`,
      );
    case "not_permitted":
      throw new BelayError("BELAY_NOT_PERMITTED", `This is not theirs to say: ${outcome.reason}.`);
    default:
      throw new BelayError(
        "BELAY_CALL_NOT_IN_DOUBT",
        `The run ${run.runId} has no call ${JSON.stringify(callId)} whose outcome is in doubt. See belay show ${run.runId}.`,
      );
  }
}
