import { apply, type Entry, fold, type RunState, terminationCode, type VerdictKind } from "../core/index.ts";
import { label } from "./content.ts";
import { type Disposition, dispositionOf } from "./disposition.ts";

export type Counts<Key extends string = string> = Readonly<Partial<Record<Key, number>>>;

/** Numbers of one run or of many together; durations in milliseconds, one for each occurrence. */
export interface RunMetrics {
  readonly runs: number;
  /** From the start to the end; for an unfinished run to its last entry. */
  readonly runMs: readonly number[];
  /** Working time: without waiting for people and without downtime. */
  readonly workedMs: readonly number[];
  /** Model calls that were answered. */
  readonly modelMs: readonly number[];
  /** Tools that said how long they took. */
  readonly toolMs: readonly number[];
  /** Questions to people, from asking to the answer or the expiry. */
  readonly approvalMs: readonly number[];
  readonly modelCalls: number;
  /** As charged: a model call that left no usage counts what it had reserved. */
  readonly inputTokens: number;
  readonly outputTokens: number;
  /** US dollars times 10^9; absent when a price was unknown, which is never zero. */
  readonly costNanoUsd?: number;
  readonly verdicts: Counts<VerdictKind>;
  readonly dispositions: Counts<Disposition>;
  readonly approvals: Counts<"approved" | "rejected" | "expired">;
  readonly compactions: number;
  /** By termination code; `unfinished` for runs that have not ended. */
  readonly terminations: Counts;
}

const NOTHING: RunMetrics = {
  runs: 0,
  runMs: [],
  workedMs: [],
  modelMs: [],
  toolMs: [],
  approvalMs: [],
  modelCalls: 0,
  inputTokens: 0,
  outputTokens: 0,
  costNanoUsd: 0,
  verdicts: {},
  dispositions: {},
  approvals: {},
  compactions: 0,
  terminations: {},
};

/** The numbers of a run from its journal; a pure function. */
export function metricsOf(entries: readonly Entry[]): RunMetrics {
  const state = fold(entries);
  const [first] = entries;
  if (state === undefined || first === undefined) {
    return NOTHING;
  }
  const { usage, termination } = state;
  const facts = accepted(entries);
  return {
    runs: 1,
    runMs: [endOf(facts, state) - first.at],
    workedMs: [state.workedMs],
    ...durations(facts),
    modelCalls: usage.modelCalls,
    inputTokens: usage.inputTokens,
    outputTokens: usage.outputTokens,
    ...(!usage.costUnknown && { costNanoUsd: usage.costNanoUsd }),
    verdicts: counted(facts.flatMap(({ event }) => (event.type === "call.decided" ? [event.decision.verdict] : []))),
    dispositions: counted([...state.earlierCalls, ...state.turn].map(dispositionOf)),
    approvals: counted(facts.flatMap(answerOf)),
    compactions: state.compactions.length,
    terminations: { [termination === undefined ? "unfinished" : label(terminationCode(termination))]: 1 },
  };
}

/** Adds the numbers of runs up; no runs give zeros. */
export function addMetrics(all: readonly RunMetrics[]): RunMetrics {
  return all.reduce(add, NOTHING);
}

function add(left: RunMetrics, right: RunMetrics): RunMetrics {
  const { costNanoUsd: _left, ...rest } = left;
  const cost =
    left.costNanoUsd === undefined || right.costNanoUsd === undefined
      ? undefined
      : left.costNanoUsd + right.costNanoUsd;
  return {
    ...rest,
    runs: left.runs + right.runs,
    runMs: [...left.runMs, ...right.runMs],
    workedMs: [...left.workedMs, ...right.workedMs],
    modelMs: [...left.modelMs, ...right.modelMs],
    toolMs: [...left.toolMs, ...right.toolMs],
    approvalMs: [...left.approvalMs, ...right.approvalMs],
    modelCalls: left.modelCalls + right.modelCalls,
    inputTokens: left.inputTokens + right.inputTokens,
    outputTokens: left.outputTokens + right.outputTokens,
    ...(cost !== undefined && { costNanoUsd: cost }),
    verdicts: addCounts(left.verdicts, right.verdicts),
    dispositions: addCounts(left.dispositions, right.dispositions),
    approvals: addCounts(left.approvals, right.approvals),
    compactions: left.compactions + right.compactions,
    terminations: addCounts(left.terminations, right.terminations),
  };
}

/** Entries that the core took; any other did not happen as far as the run is concerned. */
function accepted(entries: readonly Entry[]): readonly Entry[] {
  let state: RunState | undefined;
  return entries.filter((entry) => {
    const before = state;
    state = apply(before, entry);
    return state !== before;
  });
}

/** What is recorded after the end is not part of the run's time. */
function endOf(entries: readonly Entry[], { lastAt }: RunState): number {
  return entries.find(({ event }) => event.type === "run.ended")?.at ?? lastAt;
}

function durations(entries: readonly Entry[]): Pick<RunMetrics, "modelMs" | "toolMs" | "approvalMs"> {
  const modelMs: number[] = [];
  const toolMs: number[] = [];
  const approvalMs: number[] = [];
  const askedAt = new Map<string, number>();
  let requestedAt = 0;
  for (const { at, event } of entries) {
    if (event.type === "model.requested") {
      requestedAt = at;
    } else if (event.type === "model.replied") {
      modelMs.push(at - requestedAt);
    } else if (event.type === "call.settled" && event.durationMs !== undefined) {
      toolMs.push(event.durationMs);
    } else if (event.type === "approval.requested") {
      askedAt.set(event.approvalId, at);
    } else if (event.type === "approval.resolved" || event.type === "approval.expired") {
      approvalMs.push(at - (askedAt.get(event.approvalId) ?? at));
    }
  }
  return { modelMs, toolMs, approvalMs };
}

function answerOf({ event }: Entry): readonly ("approved" | "rejected" | "expired")[] {
  if (event.type === "approval.resolved") {
    return [event.answer];
  }
  return event.type === "approval.expired" ? ["expired"] : [];
}

function counted<Key extends string>(keys: readonly Key[]): Counts<Key> {
  const counts: Partial<Record<Key, number>> = {};
  for (const key of keys) {
    counts[key] = (counts[key] ?? 0) + 1;
  }
  return counts;
}

function addCounts<Key extends string>(left: Counts<Key>, right: Counts<Key>): Counts<Key> {
  const sum: Partial<Record<Key, number>> = { ...left };
  for (const key of Object.keys(right) as Key[]) {
    sum[key] = (sum[key] ?? 0) + (right[key] ?? 0);
  }
  return sum;
}
