import * as fc from "fast-check";
import { expect, it } from "vitest";
import { callFacts, createMemoryStore, verifyStoreAudit } from "../../src/journal/index.ts";
import * as sample from "../../src/testing/index.ts";
import { contentsOf, playHistory, randomHistory } from "./random-history.ts";

it("a question is about the last decision and the reply that asked, and reads no further back", () => {
  function* newestFirst() {
    yield sample.callDecided("c-2", "allow");
    yield {
      ...sample.callDecided("c-1"),
      decision: { verdict: "ask", code: "NEW", reason: "new", ruleId: "r" },
    } as const;
    yield sample.callDecided("c-1");
    yield sample.repliedCalls(sample.sampleCall("c-1", { order: 1 }));
    throw new Error("read too far back");
  }
  expect(callFacts(newestFirst(), "c-1")).toEqual({
    tool: "refund",
    args: { order: 1 },
    code: "NEW",
    reason: "new",
    ruleId: "r",
  });
});

it("a question about a call that the journal does not know is shown as unknown, not hidden", () => {
  expect(callFacts([], "c-1")).toMatchObject({ tool: "unknown", args: null, code: "UNKNOWN" });
});

it("after any history reservations are never negative, and nothing is spent beyond the limit before it is used", async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory, async (history) => {
      const store = createMemoryStore();
      await playHistory(store, history);
      for (const tenant of ["a", "b"]) {
        const { used, reserved } = await store.budget(tenant, "team");
        expect(used).toBeGreaterThanOrEqual(0);
        expect(reserved).toBeGreaterThanOrEqual(0);
        expect(reserved).toBeLessThanOrEqual(100);
      }
    }),
  );
});

it("after any history an ended run has no open question, and a waiting one has", async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory, async (history) => {
      const store = createMemoryStore();
      await playHistory(store, history);
      for (const run of [...(await store.runs({ tenant: "a" })), ...(await store.runs({ tenant: "b" }))]) {
        const open = await store.approvals({ tenant: run.tenant, runId: run.runId, status: "pending" });
        expect(open.length > 0).toBe(run.status === "waiting");
        expect(run.termination !== undefined).toBe(run.status === "done" || run.status === "failed");
      }
      expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    }),
  );
});

it("the same history gives the same store", async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory, async (history) => {
      const [one, other] = [createMemoryStore(), createMemoryStore()];
      expect(await playHistory(one, history)).toEqual(await playHistory(other, history));
      expect(await contentsOf(one)).toEqual(await contentsOf(other));
    }),
    { numRuns: 30 },
  );
});
