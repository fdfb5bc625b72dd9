import { createHash } from "node:crypto";
import { canonicalJson } from "../../src/audit/index.ts";
import { effectsOf, fold, type RunState } from "../../src/core/index.ts";
import { decodeLine, type JournalLine, type Store } from "../../src/journal/index.ts";

/** One line of a golden file: the journal's own bytes, and those of the audit record that was made with them. */
export interface GoldenLine {
  readonly tenant: string;
  readonly run: string;
  readonly seq: number;
  readonly at: number;
  readonly schema: number;
  readonly text: string;
  readonly record: string | null;
}

/** What the runs of a store came to, for a person to read beside the digest. */
export interface Expected {
  readonly digest: string;
  readonly runs: Readonly<Record<string, unknown>>;
}

export async function goldenLines(store: Store): Promise<readonly GoldenLine[]> {
  const records = new Map<string, string>();
  for await (const { run, runSeq, text } of store.audit.traced()) records.set(`${run.runId} ${runSeq}`, text);
  const lines: GoldenLine[] = [];
  for await (const { run, seq, at, schema, text } of store.audit.lines()) {
    const record = records.get(`${run.runId} ${seq}`) ?? null;
    lines.push({ tenant: run.tenant, run: run.runId, seq, at, schema, text, record });
  }
  return lines;
}

export function journalLine({ tenant, run, seq, at, schema, text }: GoldenLine): JournalLine {
  return { run: { tenant, runId: run }, seq, at, schema, text };
}

/** Folds the lines of each run and says what it came to. */
export function expectedOf(lines: readonly GoldenLine[]): Expected {
  const runs = Object.fromEntries(
    [...Map.groupBy(lines, ({ run }) => run)].map(([run, own]) => {
      const state = fold(own.map((line) => decodeLine(journalLine(line))));
      return [run, state === undefined ? null : viewOf(state)];
    }),
  );
  const plain = JSON.parse(JSON.stringify(runs)) as Record<string, unknown>;
  return { digest: createHash("sha256").update(canonicalJson(plain)).digest("hex"), runs: plain };
}

/** What of a state must never change for a stored journal. Fields that later versions add are not in it. */
function viewOf(state: RunState): object {
  const { agent, tenant, principal, conversationId, input, limits, phase, step, phaseChanges, messages } = state;
  const { usage, openBudgets, workedMs, queued, followedBy, answer, ending, termination, summaries, compactions } =
    state;
  const all = [...state.earlierCalls, ...state.turn].map(({ call, status, attempt, decision, outcome, reconciled }) => {
    return { callId: call.callId, status, attempt, verdict: decision?.verdict, outcome, reconciled };
  });
  return {
    ...{ agent, tenant, principal, conversationId, input, limits, phase, step, phaseChanges, messages, calls: all },
    ...{ usage, openBudgets, workedMs, queued, followedBy, answer, ending, termination, summaries, compactions },
    effects: effectsOf(state),
  };
}
