import { expect, it } from "vitest";
import { createHarness, type ModelClient, type Store } from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { calls, DANA, final, refundTool, world } from "./support.ts";

const RUN = { tenant: "default", runId: "r" };

/** A store whose first commit is written, and comes back as a conflict with itself, as after an unanswered COMMIT. */
function unansweredOnce(): Store {
  const store = createMemoryStore();
  let count = 0;
  return {
    ...store,
    commit: async (commit) => {
      const result = await store.commit(commit);
      count += 1;
      return count === 1 && result.status === "committed" ? { status: "conflict", head: result.head } : result;
    },
  };
}

it("a handle misses no entry of a commit that was written and not answered", async () => {
  const { harness } = world([final("ok")], { options: { store: unansweredOnce() } });
  const handle = harness.run("go");
  const types: string[] = [];
  for await (const { event } of handle) types.push(event.type);
  expect([types.at(0), types.at(-1)]).toEqual(["run.started", "run.ended"]);
});

it("an abort is recorded also when the first commit was written and not answered", async () => {
  const { options } = world([], { options: { store: unansweredOnce() } });
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const model: ModelClient = {
    id: "scripted",
    generate: async () => {
      asked.resolve();
      await held.promise;
      return final("too late");
    },
  };
  const harness = createHarness({ ...options, model });
  const abort = new AbortController();
  const { result } = harness.run("go", { runId: "r", signal: abort.signal });
  await asked.promise;
  abort.abort();
  await expect.poll(async () => (await harness.state(RUN))?.termination).toEqual({ kind: "cancelled", by: "abort" });
  held.resolve();
  expect((await result).termination).toEqual({ kind: "cancelled", by: "abort" });
});

it("a handle shows what another process has recorded meanwhile, and what comes after it", async () => {
  const store = createMemoryStore();
  const setup = world([], { options: { store } });
  const asked = Promise.withResolvers<void>();
  const held = Promise.withResolvers<void>();
  const model: ModelClient = {
    id: "scripted",
    generate: async () => {
      asked.resolve();
      await held.promise;
      return final("too late");
    },
  };
  const handle = createHarness({ ...setup.options, model }).run("go", { runId: "r" });
  await asked.promise;
  const other = createHarness({ ...setup.options });
  await other.cancel(RUN, DANA);
  held.resolve();
  const types: string[] = [];
  for await (const { event } of handle) types.push(event.type);
  expect(types).toContain("run.cancel_requested");
  expect(types.at(-1)).toBe("run.ended");
});

it("a cancellation between the driver's last look and its end is acted on", async () => {
  const store = createMemoryStore();
  let isReleased = false;
  let cancelled: unknown;
  const slow: Store = {
    ...store,
    releaseLease: async (run, owner, pause) => {
      await store.releaseLease(run, owner, pause);
      isReleased = true;
    },
    read: async (run, after) => {
      const entries = await store.read(run, after);
      // The answer to the last look is under way while somebody cancels.
      if (isReleased && cancelled === undefined) {
        cancelled = "under way";
        cancelled = await setup.harness.cancel(RUN, DANA);
      }
      return entries;
    },
  };
  const setup = world([calls(["refund", { order: "A", cents: 5000 }])], { options: { store: slow } });
  await setup.harness.run("go", { runId: "r" }).result;
  expect(cancelled).toBe("recorded");
  await expect.poll(async () => (await setup.harness.state(RUN))?.termination).toMatchObject({ kind: "cancelled" });
});

it("a transaction that broke while the world cannot be read leaves the outcome unknown", async () => {
  const setup = world([calls(["refund", { order: "A", cents: 1 }]), final("ok")], {
    tools: (ledger) => [
      refundTool(ledger, {
        recovery: "queryable",
        inTransaction: true,
        execute: () => {
          ledger.effects.push("A:1");
          return { done: true };
        },
        lookup: () => {
          if (ledger.effects.length > 0) throw new Error("the disk is gone");
          return undefined;
        },
      }),
    ],
    agent: {
      transaction: (work) => {
        work();
        throw new Error("COMMIT was not answered");
      },
    },
  });
  const result = await setup.harness.run("go").result;
  expect(result.calls[0]?.outcome?.status).toBe("unknown");
});

it("lookUp does not say that a call did not happen when its result is found and is not JSON", async () => {
  const setup = world([calls(["refund", { order: "A", cents: 1 }])], {
    tools: (ledger) => [
      refundTool(ledger, {
        recovery: "opaque",
        level: "write",
        execute: () => {
          throw new Error("connection lost");
        },
        lookup: () => {
          if (setup.clock.now() === 1_800_000_000_000) return undefined;
          return { at: new Map() };
        },
      }),
    ],
  });
  await setup.harness.run("go", { runId: "r" }).result;
  setup.clock.advance(3_600_000);
  expect(await setup.harness.lookUp(RUN, "c1.1")).toEqual({ status: "unavailable" });
});

it("lookUp waits for as long as an intent may be acted on, and then for as long as the tool may take", async () => {
  const setup = world([calls(["refund", { order: "A", cents: 1 }])], {
    tools: (ledger) => [
      refundTool(ledger, {
        recovery: "opaque",
        level: "write",
        timeoutMs: 1000,
        execute: () => {
          throw new Error("connection lost");
        },
        lookup: () => undefined,
      }),
    ],
    options: { leaseMs: 30_000 },
  });
  await setup.harness.run("go", { runId: "r" }).result;
  setup.clock.advance(10_999);
  expect(await setup.harness.lookUp(RUN, "c1.1")).toMatchObject({ status: "too_early" });
  setup.clock.advance(1);
  expect(await setup.harness.lookUp(RUN, "c1.1")).toEqual({ status: "found", outcome: "did_not_happen" });
});

it("a transaction that broke says what it knows: nothing was done before the tool began, unknown without a lookup", async () => {
  const outcomes: (string | undefined)[] = [];
  for (const begins of [false, true]) {
    const setup = world([calls(["refund", { order: "A", cents: 1 }]), final("ok")], {
      tools: (ledger) => [refundTool(ledger, { inTransaction: true, execute: () => ({ done: true }) })],
      agent: {
        transaction: (work) => {
          if (begins) work();
          throw new Error("the database is not there");
        },
      },
    });
    outcomes.push((await setup.harness.run("go").result).calls[0]?.outcome?.status);
  }
  expect(outcomes).toEqual(["failed", "unknown"]);
});
