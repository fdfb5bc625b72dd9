import { type CallState, canonicalize, type Entry, fold, type RunState } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { ApprovalRow, RunKey, RunRow, Store } from "../journal/index.ts";
import { type Command, DATABASE_OPTIONS, hasFlag, JSON_OPTION } from "./command.ts";
import { doubtText } from "./doubt-text.ts";
import type { Output } from "./output.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { printApproval, timeText, usageJson, usageText } from "./run-result.ts";
import { terminalLines } from "./terminal-text.ts";

interface Shown {
  readonly row: RunRow;
  readonly state: RunState;
  readonly entries: readonly Entry[];
  readonly approvals: readonly ApprovalRow[];
}

export const showCommand: Command = {
  name: "show",
  summary: "show one run: transition log, decisions, calls, approvals and usage",
  positionals: [{ name: "run" }],
  options: { ...JSON_OPTION, ...DATABASE_OPTIONS },
  examples: ["show run_1", "show run_1 --json"],
  run: async (input) => {
    const place = placeOf(input);
    const [runId = ""] = input.positionals;
    const shown = await withStore(openStore(place), (store) => readRun(store, { tenant: place.tenant, runId }));
    if (hasFlag(input, "json")) {
      input.output.json(shownJson(shown), 2);
    } else {
      printRun(input.output, shown);
    }
    return 0;
  },
};

/** Reads a run whole; throws `BELAY_RUN_UNKNOWN`. */
export async function readRun(store: Store, key: RunKey): Promise<Shown> {
  const [row, entries] = await Promise.all([store.run(key), store.read(key)]);
  const state = fold(entries);
  if (row === undefined || state === undefined) {
    throw new BelayError(
      "BELAY_RUN_UNKNOWN",
      `There is no run ${JSON.stringify(key.runId)} of the tenant ${key.tenant}. See belay runs.`,
    );
  }
  return { row, state, entries, approvals: await store.approvals({ tenant: key.tenant, runId: key.runId }) };
}

function shownJson({ row, state, entries, approvals }: Shown): Record<string, unknown> {
  return {
    run: row,
    transitions: state.phaseChanges,
    calls: callsOf(state),
    approvals,
    usage: usageJson(state.usage),
    entries,
  };
}

function printRun(output: Output, { row, state, approvals }: Shown): void {
  const title = (text: string) => output.line({ text, style: "bold" });
  title(`run ${row.runId}`);
  output.line(`  status        ${row.status}${row.termination === undefined ? "" : ` (${row.termination})`}`);
  output.line(`  agent         ${state.agent.name}, revision ${state.agent.revision}`);
  output.line(`  for           ${row.principal.kind} ${row.principal.id}, tenant ${row.tenant}`);
  output.line(`  conversation  ${row.conversationId}`);
  output.line(`  started       ${timeText(row.startedAt)}, last entry ${timeText(row.updatedAt)}`);
  output.line(`  usage         ${usageText(state.usage)}`);
  printText(output, "message", row.input);
  if (row.answer !== undefined) {
    printText(output, "answer", row.answer);
  }
  title("transitions");
  for (const change of state.phaseChanges) {
    output.line(`  ${change.step}  ${change.from} -> ${change.to}  ${change.reason}`);
  }
  title("calls");
  for (const call of callsOf(state)) {
    printCall(output, call);
  }
  if (approvals.length > 0) {
    title("approvals");
  }
  for (const approval of approvals) {
    printApproval(output, approval);
  }
}

function printText(output: Output, name: string, text: string): void {
  for (const [at, line] of terminalLines(text).entries()) {
    output.line(`  ${(at === 0 ? name : "").padEnd(12)}  ${line}`);
  }
}

function printCall(output: Output, state: CallState): void {
  const { call, step, decision, attempt, outcome, status } = state;
  const args = canonicalize(call.args);
  output.line(`  ${step}  ${call.callId}  ${call.tool} ${args.ok ? args.text : "{}"}`);
  if (decision !== undefined) {
    const { verdict, code, reason, ruleId } = decision;
    output.line(`       decided  ${verdict} ${code}: ${reason} (rule ${ruleId})`);
  }
  if (attempt > 0) {
    output.line(`       started  attempt ${attempt}`);
  }
  const end =
    outcome === undefined
      ? status
      : outcome.status === "ok"
        ? "ok"
        : `${outcome.status} ${outcome.error.code}: ${outcome.error.message}`;
  output.line(`       outcome  ${end}`);
  const doubt = doubtText(state);
  if (doubt !== undefined) {
    output.line(`       since    ${doubt}`);
  }
}

function callsOf(state: RunState): readonly CallState[] {
  return [...state.earlierCalls, ...state.turn];
}
