import { expect, it, vi } from "vitest";
import { createHarness, type Harness, type ToolContext } from "../../src/index.ts";
import { createMemoryStore, type Store } from "../../src/journal/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";
import { ASK_ABOVE_1000, DANA, type Ledger, refundTool } from "./support.ts";

const CALLS = [{ tool: "refund", args: { json: { order: "O-1", cents: 5 } } }];

interface Watched {
  readonly harness: Harness;
  readonly ledger: Ledger;
  /** What was asked of the store, in order, and when the tool ran. */
  readonly log: string[];
}

function watched(store: Store, change: Partial<Store> = {}, worker = "one"): Watched {
  const ledger: Ledger = { effects: [], keys: [] };
  const log: string[] = [];
  const seen: Store = {
    ...store,
    ...change,
    acquireLease: (...args) => {
      log.push("lease");
      return store.acquireLease(...args);
    },
    read: (...args) => {
      log.push("read");
      return store.read(...args);
    },
    commit: (commit) => {
      log.push(`commit ${commit.entries.map(({ event }) => event.type).join(" ")}`);
      return (change.commit ?? store.commit)(commit);
    },
  };
  const refund = refundTool(ledger);
  const tool = {
    ...refund,
    execute: (args: unknown, context: ToolContext) => {
      log.push("effect");
      return refund.execute(args, context);
    },
  };
  const agent = { name: "shop", revision: "1", instructions: "", tools: [tool], rules: [ASK_ABOVE_1000] };
  return { harness: createHarness({ agent, model: scriptedModel([]), store: seen, worker }), ledger, log };
}

it("begins a run of one call with two commits: the intent before the effect, the outcome after it", async () => {
  const { harness, log } = watched(createMemoryStore());
  const { status } = await harness.run("refund", { calls: CALLS }).result;
  expect(status).toBe("done");
  expect(log).toEqual([
    "lease",
    "commit run.started model.requested model.replied segment.started call.decided call.started",
    "effect",
    "commit call.settled run.ended",
    "read",
  ]);
});

it("runs nothing that was staged for a name which another run took meanwhile", async () => {
  const store = createMemoryStore();
  const other = watched(store, {}, "other");
  let isFirst = true;
  const { harness, ledger } = watched(store, {
    commit: async (commit) => {
      if (isFirst) {
        isFirst = false;
        // Between the look and the commit: another input under the same name.
        await other.harness.start("another", { runId: "r", calls: CALLS, principal: DANA });
      }
      return store.commit(commit);
    },
  });
  const begun = harness.run("refund", { runId: "r", calls: CALLS }).result;
  await expect(begun).rejects.toMatchObject({ code: "BELAY_RUN_EXISTS" });
  expect(ledger.effects).toEqual([]);
  expect((await store.read({ tenant: "default", runId: "r" })).map(({ event }) => event.type)).not.toContain(
    "call.started",
  );
});

it("does once what two processes begin at the same moment under one name", async () => {
  const store = createMemoryStore();
  const [one, two] = [watched(store, {}, "one"), watched(store, {}, "two")];
  const begin = ({ harness }: Watched) => harness.run("refund", { runId: "r", calls: CALLS, principal: DANA }).result;
  const results = await Promise.all([begin(one), begin(two)]);
  expect(results.map(({ runId }) => runId)).toEqual(["r", "r"]);
  expect([...one.ledger.effects, ...two.ledger.effects]).toEqual(["O-1:5"]);
  expect((await one.harness.advance({ tenant: "default", runId: "r" })).status).toBe("done");
});

it("tries nothing again and runs nothing when the first commit fails", async () => {
  const store = createMemoryStore();
  const commit = () => Promise.reject(new Error("the disk is gone"));
  const { harness, ledger, log } = watched(store, { commit });
  await expect(harness.run("refund", { runId: "r", calls: CALLS }).result).rejects.toThrow("the disk is gone");
  expect(log.filter((line) => line.startsWith("commit"))).toHaveLength(1);
  expect(ledger.effects).toEqual([]);
  const lease = await store.acquireLease({ tenant: "default", runId: "r" }, "next", 1000, Date.now());
  expect(lease.status, "the lease is given back").toBe("held");
});

it("records a cancellation that came before the run was written", async () => {
  const store = createMemoryStore();
  const stop = new AbortController();
  const { harness } = watched(store, {
    conversation: async (...args) => {
      stop.abort();
      return store.conversation(...args);
    },
  });
  const slow = { conversationId: "c", calls: [{ tool: "refund", args: { json: { order: "O-1", cents: 5000 } } }] };
  const { runId } = await harness.run("refund", { ...slow, signal: stop.signal }).result;
  await vi.waitFor(async () => {
    const state = await harness.state({ tenant: "default", runId });
    expect(state?.termination).toMatchObject({ kind: "cancelled" });
  });
});

it("writes the run all the same when another worker holds its lease", async () => {
  const store = createMemoryStore();
  const { harness, ledger } = watched(store);
  await store.acquireLease({ tenant: "default", runId: "r" }, "another", 60_000, Date.now());
  expect((await harness.run("refund", { runId: "r", calls: CALLS }).result).status).toBe("busy");
  expect((await store.run({ tenant: "default", runId: "r" }))?.status).toBe("running");
  expect(ledger.effects).toEqual([]);
});
