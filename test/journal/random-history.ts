import * as fc from "fast-check";
import type { RunEvent } from "../../src/core/index.ts";
import type { CommitResult, RunKey, Store } from "../../src/journal/index.ts";
import * as sample from "../../src/testing/index.ts";

/** One commit of a random history; `behind` commits to a head that is too old. */
export interface RandomCommit {
  readonly tenant: string;
  readonly runId: string;
  readonly behind: boolean;
  readonly events: readonly RunEvent[];
}

const calls = ["c-1", "c-2"];

const anyEvent: fc.Arbitrary<RunEvent> = fc.oneof(
  fc.constant(sample.repliedCalls(...calls.map((callId) => sample.sampleCall(callId)))),
  fc.string({ unit: "grapheme", maxLength: 5 }).map(sample.repliedFinal),
  fc.constantFrom(...calls).map((callId) => sample.callDecided(callId)),
  fc.tuple(fc.constantFrom(...calls), fc.nat(6)).map(([call, id]) => sample.approvalRequested(call, `apr-${id}`)),
  fc
    .tuple(fc.constantFrom(...calls), fc.nat(6), fc.constantFrom("approved" as const, "rejected" as const))
    .map(([call, id, answer]) => sample.approvalResolved(call, `apr-${id}`, answer)),
  fc.nat(6).map((id): RunEvent => ({ type: "approval.expired", callId: "c-1", approvalId: `apr-${id}` })),
  fc.jsonValue().map((json) => sample.callSettled("c-1", json as never)),
  fc.tuple(fc.nat(3), fc.nat(60)).map(([id, amount]) => sample.budgetReserved(`r-${id}`, amount)),
  fc
    .tuple(fc.nat(3), fc.nat(60))
    .map(([id, amount]): RunEvent => ({ type: "budget.settled", reservationId: `r-${id}`, budget: "team", amount })),
  fc.nat(3).map((id): RunEvent => ({ type: "budget.released", reservationId: `r-${id}`, budget: "team" })),
  fc.nat(3).map((id) => sample.messageQueued(`next-${id}`)),
  fc.constant<RunEvent>({ type: "run.followed", nextRunId: "next-1" }),
  fc.constantFrom("completed" as const, "cancelled" as const).map(sample.runEnded),
);

/** Commits of a few runs of two tenants, with conflicts, refusals and events that do not apply. */
export const randomHistory: fc.Arbitrary<readonly RandomCommit[]> = fc.array(
  fc.record({
    tenant: fc.constantFrom("a", "b"),
    runId: fc.constantFrom("r-1", "r-2", "r-3"),
    behind: fc.nat(9).map((number) => number === 0),
    events: fc.array(anyEvent, { minLength: 1, maxLength: 4 }),
  }),
  { minLength: 5, maxLength: 40 },
);

/** Plays a history into a store, half of it one by one and half at once; returns what each commit was told. */
export async function playHistory(store: Store, history: readonly RandomCommit[]): Promise<readonly string[]> {
  const half = Math.floor(history.length / 2);
  const told: string[] = [];
  for (const commit of history.slice(0, half)) {
    told.push(await play(store, commit));
  }
  return [...told, ...(await Promise.all(history.slice(half).map((commit) => play(store, commit))))];
}

async function play(store: Store, { tenant, runId, behind, events }: RandomCommit): Promise<string> {
  const run: RunKey = { tenant, runId };
  const head = (await store.run(run))?.head ?? 0;
  const all = head === 0 ? [sample.runStarted(tenant, `cnv-${runId}`), ...events] : events;
  try {
    const entries = all.map((event) => ({ at: sample.SAMPLE_AT, event }));
    const result: CommitResult = await store.commit({ run, head: behind ? head + 5 : head, entries });
    return JSON.stringify(result);
  } catch (error) {
    return String((error as { code?: string }).code);
  }
}

/** Everything that can be read from a store. */
export async function contentsOf(store: Store): Promise<unknown> {
  const lines = [];
  for await (const line of store.audit.lines()) {
    lines.push(line);
  }
  const perTenant = await Promise.all(
    ["a", "b"].map(async (tenant) => ({
      runs: await store.runs({ tenant }),
      approvals: await store.approvals({ tenant }),
      budget: await store.budget(tenant, "team"),
      conversation: await store.conversation(tenant, "cnv-r-1"),
    })),
  );
  return {
    perTenant,
    unfinished: await store.unfinished(100),
    records: await store.audit.entries(0, 1000),
    frontier: await store.audit.frontier(),
    differences: await store.audit.differences(),
    lines: lines.toSorted((one, other) => (JSON.stringify(one) < JSON.stringify(other) ? -1 : 1)),
  };
}
