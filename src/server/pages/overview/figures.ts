import type { RunRow, Store, StoredEntry } from "../../../journal/index.ts";
import { addMetrics, metricsOf, type RunMetrics } from "../../../telemetry/index.ts";
import { median } from "../show/numbers.ts";
import { dayOf } from "../show/times.tsx";

/** What the overview tells. */
export interface OverviewFigures {
  /** By day, oldest first, days without runs included. */
  readonly days: readonly { readonly day: string; readonly runs: number }[];
  /** Runs of those days; `isCut` when there are more than were read. */
  readonly runs: number;
  readonly isCut: boolean;
  /** By termination code, unfinished ones left out. */
  readonly stops: readonly (readonly [code: string, count: number])[];
  readonly unfinished: number;
  /** Of the newest `read` runs. */
  readonly read: number;
  readonly denials: readonly (readonly [code: string, count: number])[];
  readonly metrics: RunMetrics;
  /** Of the newest answers, from asking to the answer. */
  readonly decisionMs: number | undefined;
}

const DAYS = 14;
const DAY_MS = 86_400_000;
const RUNS_MAX = 5000;
const PAGE = 1000;
/** Denials and spend are read from the journals of this many runs; more would make the page slow. */
const JOURNALS_MAX = 200;

/** Adds up the runs of the last days of a tenant. */
export async function overviewFigures(store: Store, tenant: string, now: number): Promise<OverviewFigures> {
  const since = Math.floor(now / DAY_MS) * DAY_MS - (DAYS - 1) * DAY_MS;
  const { runs, isCut } = await runsSince(store, tenant, since);
  const journals = await Promise.all(runs.slice(0, JOURNALS_MAX).map((run) => store.read(run)));
  const metrics = addMetrics(journals.map(metricsOf));
  return {
    days: daysOf(runs, since),
    runs: runs.length,
    isCut,
    stops: counted(runs.flatMap(({ termination }) => termination ?? [])),
    unfinished: runs.filter(({ termination }) => termination === undefined).length,
    read: journals.length,
    denials: counted(journals.flatMap(denialsOf)),
    metrics,
    decisionMs: median(journals.flatMap(decisionTimes)),
  };
}

async function runsSince(
  store: Store,
  tenant: string,
  since: number,
): Promise<{ readonly runs: readonly RunRow[]; readonly isCut: boolean }> {
  const runs: RunRow[] = [];
  for (;;) {
    const last = runs.at(-1);
    const place = last === undefined ? {} : { before: last.startedAt, beforeRunId: last.runId };
    const page = await store.runs({ tenant, limit: PAGE, ...place });
    const fitting = page.filter(({ startedAt }) => startedAt >= since);
    runs.push(...fitting);
    if (fitting.length < PAGE) {
      return { runs, isCut: false };
    }
    if (runs.length >= RUNS_MAX) {
      return { runs, isCut: true };
    }
  }
}

function daysOf(runs: readonly RunRow[], since: number): OverviewFigures["days"] {
  const counts = new Map(counted(runs.map(({ startedAt }) => dayOf(startedAt))));
  return Array.from({ length: DAYS }, (_, index) => {
    const day = dayOf(since + index * DAY_MS);
    return { day, runs: counts.get(day) ?? 0 };
  });
}

/** Codes of the calls that a rule refused or stopped, and of those that no rule had to look at. */
function denialsOf(entries: readonly StoredEntry[]): readonly string[] {
  return entries.flatMap(({ event }) => {
    if (event.type === "call.decided") {
      return event.decision.verdict === "deny" || event.decision.verdict === "halt" ? [event.decision.code] : [];
    }
    return event.type === "model.replied" && event.output.kind === "calls"
      ? event.output.calls.flatMap(({ refusal }) => refusal?.code ?? [])
      : [];
  });
}

function decisionTimes(entries: readonly StoredEntry[]): readonly number[] {
  const asked = new Map<string, number>();
  return entries.flatMap(({ at, event }) => {
    if (event.type === "approval.requested") {
      asked.set(event.approvalId, at);
    }
    return event.type === "approval.resolved" ? [at - (asked.get(event.approvalId) ?? at)] : [];
  });
}

function counted(names: readonly string[]): readonly (readonly [string, number])[] {
  const counts = new Map<string, number>();
  for (const name of names) {
    counts.set(name, (counts.get(name) ?? 0) + 1);
  }
  return [...counts].sort(([one, ones], [other, others]) => others - ones || (one < other ? -1 : 1));
}
