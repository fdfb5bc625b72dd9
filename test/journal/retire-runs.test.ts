import { hash } from "node:crypto";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { RunEvent } from "../../src/core/index.ts";
import { createMemoryStore, retireRuns, type Store, verifyStoreAudit } from "../../src/journal/index.ts";
import * as sample from "../../src/testing/index.ts";

const DAY_MS = 86_400_000;
const NOW = sample.SAMPLE_AT + 100 * DAY_MS;
const BY = { kind: "system", id: "gc:test" } as const;
const options = { tenant: "default", olderThanMs: 90 * DAY_MS, now: NOW, by: BY };

const stores: Readonly<Record<string, () => Promise<Store>>> = {
  memory: async () => createMemoryStore(),
  sqlite: async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-retire-"));
    const store = await openSqliteStore(join(folder, "store.db"));
    onTestFinished(async () => {
      await store.close();
      rmSync(folder, { recursive: true });
    });
    return store;
  },
};

const LARGE = ["one large result", "a large result of two runs"] as const;

function settledWithBlob(text: string): RunEvent {
  const value = { blob: { sha256: hash("sha256", text), bytes: text.length } };
  return { type: "call.settled", callId: "c-1", outcome: { status: "ok", value }, attempt: 1 };
}

const started: RunEvent = {
  type: "call.started",
  callId: "c-1",
  attempt: 1,
  idempotencyKey: "key",
  recovery: "keyed",
  fence: 1,
};

const requested: RunEvent = {
  type: "model.requested",
  reserved: { inputTokens: 10, outputTokens: 10, costNanoUsd: 1 },
};

const ENDING = [requested, sample.repliedFinal("a secret answer"), sample.runEnded()];

/** A call that needed a person, ran, cost something, and had an answer. */
function story(runId: string, text: string): readonly RunEvent[] {
  return [
    { type: "segment.started", worker: "w", fence: 1 },
    requested,
    sample.repliedCalls(sample.sampleCall("c-1")),
    sample.callDecided("c-1"),
    sample.approvalRequested("c-1", `apr-${runId}`),
    sample.approvalResolved("c-1", `apr-${runId}`, "approved"),
    { type: "call.decided", callId: "c-1", recheck: true, decision: allowed },
    sample.budgetReserved("r-1", 40),
    started,
    settledWithBlob(text),
    { type: "budget.settled", reservationId: "r-1", budget: "team", amount: 30 },
    ...ENDING,
  ];
}

const allowed = { verdict: "allow", code: "OK", reason: "now", ruleId: "amount" } as const;

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
  expect(result.status).toBe("committed");
}

async function contents(store: Store): Promise<string> {
  const texts: unknown[] = [await store.runs({ tenant: "default" }), await store.approvals({ tenant: "default" })];
  for await (const line of store.audit.lines()) texts.push(line);
  for await (const blob of store.audit.blobs()) texts.push(blob);
  return JSON.stringify(texts);
}

describe.each(Object.keys(stores))("retention of a %s store", (kind) => {
  const open = stores[kind] ?? stores["memory"];
  const opened = async (): Promise<Store> => {
    const store = await open?.();
    if (store === undefined) throw new Error(kind);
    return store;
  };

  it("removes what an old run said and did, and the store still verifies and derives the same", async () => {
    const store = await opened();
    await write(store, "old-1", { events: story("old-1", LARGE[0]), blob: LARGE[0] });
    await write(store, "old-2", { events: story("old-2", LARGE[1]), blob: LARGE[1] });
    await write(store, "young", { events: story("young", LARGE[1]), at: NOW - DAY_MS, blob: LARGE[1] });
    const [root, size, budget] = [
      await store.audit.root(),
      await store.audit.size(),
      await store.budget("default", "team"),
    ];
    const records = await store.audit.entries(0, 100);
    const dry = await retireRuns(store, { ...options, dryRun: true });
    expect(dry).toMatchObject({ runs: 2, events: 30, blobs: 1, kept: {} });
    expect(await store.audit.root()).toBe(root);
    expect(await retireRuns(store, options)).toEqual(dry);
    const left = await contents(store);
    expect(left).not.toContain(LARGE[0]);
    expect(left.split("a secret answer")).toHaveLength(3);
    expect((await store.approvals({ tenant: "default" })).map(({ runId }) => runId)).toEqual(["young"]);
    expect(await store.audit.entries(0, size)).toEqual(records);
    expect(await store.budget("default", "team")).toEqual(budget);
    expect(await store.audit.differences()).toEqual([]);
    const trustedCheckpoints = [{ size, root }];
    expect(await verifyStoreAudit(store, { trustedCheckpoints })).toMatchObject({ ok: true, size: size + 2 });
    const run = { tenant: "default", runId: "old-1" };
    expect(await store.run(run)).toMatchObject({ status: "done", input: "", head: 16, startedAt: sample.SAMPLE_AT });
    const [stub, ...others] = await store.read(run);
    expect(others).toEqual([]);
    expect(stub).toMatchObject({
      seq: 16,
      at: NOW,
      event: { type: "run.retired", by: BY, termination: "completed", budgets: [{ budget: "team", used: 30 }] },
    });
    const record = JSON.parse((await store.audit.entries(size, 1))[0]?.text ?? "");
    expect(record).toMatchObject({ type: "run.retired", by: BY, audit: { size, root } });
  });

  it("is whole after being stopped half way, and goes on", async () => {
    const store = await opened();
    for (let index = 0; index < 40; index += 1) await write(store, `old-${index}`, { events: ENDING });
    const stop = new AbortController();
    const { retention } = store;
    let count = 0;
    const dying: Store = {
      ...store,
      ...(retention && {
        retention: {
          ...retention,
          retire: (request) => {
            count += 1;
            if (count === 10) stop.abort(new Error("stopped"));
            return retention.retire(request);
          },
        },
      }),
    };
    await expect(retireRuns(dying, { ...options, signal: stop.signal })).rejects.toThrow("stopped");
    expect((await verifyStoreAudit(store)).ok).toBe(true);
    const { runs, kept } = await retireRuns(store, options);
    expect(runs + (kept["it is retired already"] ?? 0)).toBe(40);
    expect(runs).toBeGreaterThan(0);
    expect((await verifyStoreAudit(store)).ok).toBe(true);
    expect(await retireRuns(store, options)).toMatchObject({ runs: 0, events: 0, blobs: 0, bytes: 0 });
  });

  it("keeps what somebody may still have to do with", async () => {
    const store = await opened();
    const unknown: RunEvent = {
      type: "call.settled",
      callId: "c-1",
      outcome: { status: "unknown", error: { code: "OUTCOME_UNKNOWN", message: "?", retryable: false } },
      attempt: 1,
    };
    const asked = [sample.repliedCalls(sample.sampleCall("c-1")), sample.callDecided("c-1", "allow"), started];
    await write(store, "running", { events: [] });
    await write(store, "waiting", { events: [...asked.slice(0, 1), sample.approvalRequested("c-1", "apr-1")] });
    await write(store, "unknown", { events: [...asked, unknown, sample.runEnded("cancelled")] });
    await write(store, "reserved", { events: [sample.budgetReserved("r-1", 40), ...ENDING] });
    await write(store, "queued", { events: [sample.messageQueued("next"), ...ENDING] });
    await write(store, "beside-running", { events: ENDING, conversation: "cnv-running" });
    await write(store, "beside-young", { events: ENDING, conversation: "cnv-young" });
    await write(store, "young", { events: ENDING, conversation: "cnv-young", at: NOW - DAY_MS });
    const before = await contents(store);
    const { runs, kept } = await retireRuns(store, options);
    expect(runs).toBe(0);
    expect(Object.values(kept).reduce((sum, count) => sum + count, 0)).toBe(7);
    expect(await contents(store)).toBe(before);
  });

  it("refuses less than a day, and nobody can write that a run is retired but the store", async () => {
    const store = await opened();
    await expect(retireRuns(store, { ...options, olderThanMs: 5 })).rejects.toMatchObject({
      code: "BELAY_RETENTION_INVALID",
    });
    await expect(retireRuns(store, { ...options, olderThanMs: Number.NaN })).rejects.toMatchObject({
      code: "BELAY_RETENTION_INVALID",
    });
    await write(store, "old", { events: ENDING });
    await retireRuns(store, options);
    const run = { tenant: "default", runId: "old" };
    const [stub] = await store.read(run);
    const forged = { at: NOW, event: stub?.event ?? sample.runEnded() };
    await expect(store.commit({ run, head: 5, entries: [forged] })).rejects.toMatchObject({
      code: "BELAY_COMMIT_INVALID",
    });
    const { retention: _none, ...plain } = store;
    await expect(retireRuns(plain, options)).rejects.toMatchObject({ code: "BELAY_RETENTION_UNSUPPORTED" });
  });

  it("what is observed of a call after its run was retired is recorded like everything else", async () => {
    const store = await opened();
    await write(store, "old", { events: ENDING });
    await retireRuns(store, options);
    const run = { tenant: "default", runId: "old" };
    const late: RunEvent = {
      type: "call.outcome_observed",
      callId: "c-1",
      attempt: 1,
      differs: true,
      outcome: { status: "ok", value: { json: 1 } },
    };
    expect(await store.commit({ run, head: 5, entries: [{ at: NOW, event: late }] })).toEqual({
      status: "committed",
      head: 6,
    });
    expect((await store.read(run)).map(({ seq }) => seq)).toEqual([5, 6]);
    expect((await verifyStoreAudit(store)).ok).toBe(true);
    expect(await store.audit.differences()).toEqual([]);
  });
});
