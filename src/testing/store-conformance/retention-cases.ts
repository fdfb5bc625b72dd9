import assert from "node:assert/strict";
import { hash } from "node:crypto";
import type { Principal, RunEvent } from "../../core/index.ts";
import { retireRuns, type Store, type StoreRetention, verifyStoreAudit } from "../../journal/index.ts";
import { collect, rejectsWith } from "../conformance-case.ts";
import * as sample from "../sample-events.ts";
import type { StoreCase } from "./store-case.ts";

const DAY_MS = 86_400_000;
const NOW = sample.SAMPLE_AT + 100 * DAY_MS;
const BY: Principal = { kind: "system", id: "gc:test" };
const OPTIONS = { tenant: "default", olderThanMs: 90 * DAY_MS, now: NOW, by: BY };

const LARGE = ["one large result", "a large result of two runs"] as const;

const REQUESTED: RunEvent = {
  type: "model.requested",
  reserved: { inputTokens: 10, outputTokens: 10, costNanoUsd: 1 },
};
const STARTED: RunEvent = {
  ...{ type: "call.started", callId: "c-1", attempt: 1, idempotencyKey: "key", recovery: "keyed", fence: 1 },
};
const ENDING: readonly RunEvent[] = [REQUESTED, sample.repliedFinal("a secret answer"), sample.runEnded()];

/** A call that needed a person, ran, cost something, and had an answer. */
function story(runId: string, text: string): readonly RunEvent[] {
  const value = { blob: { sha256: hash("sha256", text), bytes: text.length } };
  const allowed = { verdict: "allow", code: "OK", reason: "now", ruleId: "amount" } as const;
  return [
    { type: "segment.started", worker: "w", fence: 1 },
    REQUESTED,
    sample.repliedCalls(sample.sampleCall("c-1")),
    sample.callDecided("c-1"),
    sample.approvalRequested("c-1", `apr-${runId}`),
    sample.approvalResolved("c-1", `apr-${runId}`, "approved"),
    { type: "call.decided", callId: "c-1", recheck: true, decision: allowed },
    sample.budgetReserved("r-1", 40),
    STARTED,
    { type: "call.settled", callId: "c-1", outcome: { status: "ok", value }, attempt: 1 },
    { type: "budget.settled", reservationId: "r-1", budget: "team", amount: 30 },
    ...ENDING,
  ];
}

interface RunSpec {
  readonly events: readonly RunEvent[];
  readonly at?: number;
  readonly conversation?: string;
  readonly blob?: string;
}

async function write(store: Store, runId: string, { events, at, conversation, blob }: RunSpec): Promise<void> {
  const all = [sample.runStarted("default", conversation ?? `cnv-${runId}`), ...events];
  const entries = all.map((event) => ({ at: at ?? sample.SAMPLE_AT, event }));
  const blobs = blob === undefined ? {} : { blobs: new Map([[hash("sha256", blob), blob]]) };
  const result = await store.commit({ run: { tenant: "default", runId }, head: 0, entries, ...blobs });
  assert.equal(result.status, "committed", runId);
}

async function contents(store: Store): Promise<string> {
  const rows = [await store.runs({ tenant: "default" }), await store.approvals({ tenant: "default" })];
  return JSON.stringify([...rows, await collect(store.audit.lines()), await collect(store.audit.blobs())]);
}

async function isWhole(store: Store): Promise<void> {
  const verdict = await verifyStoreAudit(store);
  assert.equal(verdict.ok, true, JSON.stringify(verdict));
  assert.deepEqual(await store.audit.differences(), []);
}

const PAGES_MAX = 50;

/** A case for stores that forget; one that keeps everything passes it unseen. */
function forgetting(name: string, run: (store: Store, retention: StoreRetention) => Promise<void>): StoreCase {
  return {
    name: `where a store forgets: ${name}`,
    run: async ({ store }) => {
      let pages = 0;
      const runs: Store["runs"] = (query) => {
        pages += 1;
        assert.ok(pages < PAGES_MAX, "the pages of runs have no end");
        return store.runs(query);
      };
      if (store.retention !== undefined) await run({ ...store, runs }, store.retention);
    },
  };
}

/** What `belay gc` removes, and what it never does. */
export const RETENTION_CASES: readonly StoreCase[] = [
  forgetting("what an old run said and did is removed, and the store verifies and derives the same", async (store) => {
    await write(store, "old-1", { events: story("old-1", LARGE[0]), blob: LARGE[0] });
    await write(store, "old-2", { events: story("old-2", LARGE[1]), blob: LARGE[1] });
    await write(store, "young", { events: story("young", LARGE[1]), at: NOW - DAY_MS, blob: LARGE[1] });
    const [root, size] = [await store.audit.root(), await store.audit.size()];
    const records = await store.audit.entries(0, 100);
    const budget = await store.budget("default", "team");
    const dry = await retireRuns(store, { ...OPTIONS, dryRun: true });
    assert.deepEqual([dry.runs, dry.events, dry.blobs, dry.kept], [2, 30, 1, {}]);
    assert.equal(await store.audit.root(), root);
    assert.deepEqual(await retireRuns(store, OPTIONS), dry);
    const left = await contents(store);
    assert.ok(!left.includes(LARGE[0]));
    assert.equal(left.split("a secret answer").length, 3);
    const inbox = await store.approvals({ tenant: "default" });
    assert.deepEqual(
      inbox.map(({ runId }) => runId),
      ["young"],
    );
    assert.deepEqual(await store.audit.entries(0, size), records);
    assert.deepEqual(await store.budget("default", "team"), budget);
    await isWhole(store);
    const verdict = await verifyStoreAudit(store, { trustedCheckpoints: [{ size, root }] });
    assert.ok(verdict.ok && verdict.size === size + 2);
    await isStub(store, { size, root });
  }),
  forgetting("it is whole after being stopped half way, and goes on", async (store, retention) => {
    for (let index = 0; index < 40; index += 1) await write(store, `old-${index}`, { events: ENDING });
    const stop = new AbortController();
    let count = 0;
    const retire: StoreRetention["retire"] = (request) => {
      count += 1;
      if (count === 10) stop.abort(new Error("stopped"));
      return retention.retire(request);
    };
    const dying: Store = { ...store, retention: { ...retention, retire } };
    await assert.rejects(retireRuns(dying, { ...OPTIONS, signal: stop.signal }), /stopped/);
    await isWhole(store);
    const { runs, kept } = await retireRuns(store, OPTIONS);
    assert.equal(runs + (kept["it is retired already"] ?? 0), 40);
    assert.ok(runs > 0);
    await isWhole(store);
    const again = await retireRuns(store, OPTIONS);
    assert.deepEqual([again.runs, again.events, again.blobs, again.bytes], [0, 0, 0, 0]);
  }),
  forgetting("what somebody may still have to do with is kept", async (store) => {
    const error = { code: "OUTCOME_UNKNOWN", message: "?", retryable: false };
    const unknown: RunEvent = {
      ...{ type: "call.settled", callId: "c-1", attempt: 1 },
      outcome: { status: "unknown", error },
    };
    const asked = [sample.repliedCalls(sample.sampleCall("c-1")), sample.callDecided("c-1", "allow"), STARTED];
    await write(store, "running", { events: [] });
    await write(store, "waiting", { events: [...asked.slice(0, 1), sample.approvalRequested("c-1", "apr-1")] });
    await write(store, "unknown", { events: [...asked, unknown, sample.runEnded("cancelled")] });
    await write(store, "reserved", { events: [sample.budgetReserved("r-1", 40), ...ENDING] });
    await write(store, "queued", { events: [sample.messageQueued("next"), ...ENDING] });
    await write(store, "beside-running", { events: ENDING, conversation: "cnv-running" });
    await write(store, "beside-young", { events: ENDING, conversation: "cnv-young" });
    await write(store, "young", { events: ENDING, conversation: "cnv-young", at: NOW - DAY_MS });
    const before = await contents(store);
    const { runs, kept } = await retireRuns(store, OPTIONS);
    assert.equal(runs, 0);
    const reasons = Object.values(kept).reduce((sum, count) => sum + count, 0);
    assert.equal(reasons, 7);
    assert.equal(await contents(store), before);
  }),
  forgetting("less than a day is refused, and nobody but the store can write that a run is retired", async (store) => {
    for (const olderThanMs of [5, Number.NaN]) {
      await rejectsWith(retireRuns(store, { ...OPTIONS, olderThanMs }), "BELAY_RETENTION_INVALID");
    }
    await write(store, "old", { events: ENDING });
    await retireRuns(store, OPTIONS);
    const run = { tenant: "default", runId: "old" };
    const [stub] = await store.read(run);
    const forged = { at: NOW, event: stub?.event ?? sample.runEnded() };
    await rejectsWith(store.commit({ run, head: 5, entries: [forged] }), "BELAY_COMMIT_INVALID");
    const { retention: _none, ...plain } = store;
    await rejectsWith(retireRuns(plain, OPTIONS), "BELAY_RETENTION_UNSUPPORTED");
  }),
  forgetting("what is observed of a call after its run was retired is recorded like everything else", async (store) => {
    await write(store, "old", { events: ENDING });
    await retireRuns(store, OPTIONS);
    const run = { tenant: "default", runId: "old" };
    const late: RunEvent = {
      ...{ type: "call.outcome_observed", callId: "c-1", attempt: 1, differs: true },
      outcome: { status: "ok", value: { json: 1 } },
    };
    const entries = [{ at: NOW, event: late }];
    assert.deepEqual(await store.commit({ run, head: 5, entries }), { status: "committed", head: 6 });
    assert.deepEqual(
      (await store.read(run)).map(({ seq }) => seq),
      [5, 6],
    );
    await isWhole(store);
  }),
  forgetting("two that retire at once retire each run once", async (store) => {
    for (let index = 0; index < 20; index += 1) await write(store, `old-${index}`, { events: ENDING });
    const [one, other] = await Promise.all([retireRuns(store, OPTIONS), retireRuns(store, OPTIONS)]);
    assert.equal(one.runs + other.runs, 20);
    await isWhole(store);
  }),
];

/** What is left of `old-1`, and the record that says so. */
async function isStub(store: Store, audit: { readonly size: number; readonly root: string }): Promise<void> {
  const run = { tenant: "default", runId: "old-1" };
  const row = await store.run(run);
  assert.deepEqual([row?.status, row?.input, row?.head, row?.startedAt], ["done", "", 16, sample.SAMPLE_AT]);
  const stubs = await store.read(run);
  assert.deepEqual(
    stubs.map(({ seq, at, event }) => [seq, at, event.type]),
    [[16, NOW, "run.retired"]],
  );
  const event = stubs[0]?.event;
  assert.ok(event?.type === "run.retired");
  assert.deepEqual([event.by, event.termination], [BY, "completed"]);
  assert.deepEqual(event.budgets, [{ budget: "team", used: 30 }]);
  const records = await store.audit.entries(audit.size, 2);
  const noted = records.map(({ text }) => (JSON.parse(text) as { readonly audit: typeof audit }).audit);
  assert.ok(noted.some(({ size, root }) => size === audit.size && root === audit.root));
}
