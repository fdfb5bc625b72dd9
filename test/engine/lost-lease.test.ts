import { expect, it } from "vitest";
import { createHarness, type HarnessOptions, type ModelClient, type RunKey } from "../../src/index.ts";
import { final, world } from "./support.ts";

const LEASE_MS = 60;

/** A model that tells when it is asked, and answers when it is told to, or gives up when it is aborted. */
function heldModel() {
  const asked = Promise.withResolvers<void>();
  const model: ModelClient = {
    id: "scripted",
    generate: (_request, { signal }) => {
      asked.resolve();
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      });
    },
  };
  return { model, asked: asked.promise };
}

/** A worker in the middle of a model call whose lease another one takes, as after a long pause of its process. */
async function lose(options: Partial<HarnessOptions>, takeOver: (run: RunKey) => Promise<void>) {
  const { model, asked } = heldModel();
  const alarms: string[] = [];
  const setup = world([final("by another")], {
    options: { leaseMs: LEASE_MS, ...options, onAlarm: ({ code }) => alarms.push(code) },
  });
  const slow = createHarness({ ...setup.options, model });
  const run = await slow.start("go");
  const result = slow.advance(run);
  await asked;
  setup.clock.advance(10 * LEASE_MS);
  await takeOver(run);
  return { setup, run, result: await result, alarms };
}

it("a worker that loses its lease says that another one is busy, and not that people are asked", async () => {
  const store = world([]).options.store;
  const { result, alarms } = await lose({ store }, async (run) => {
    expect(await store.acquireLease(run, "another", 1e9, 1_900_000_000_000)).toMatchObject({ status: "held" });
  });
  expect(alarms).toContain("LEASE_LOST");
  expect(result).toMatchObject({ status: "busy", approvals: [] });
});

it("a worker that loses its lease to one that ends the run says how it ended", async () => {
  const store = world([]).options.store;
  const { setup, run, result } = await lose({ store }, async (key) => {
    const another = world([final("by another")], { options: { store } });
    another.clock.advance(10 * LEASE_MS);
    expect(await another.harness.advance(key)).toMatchObject({ status: "done" });
  });
  expect(result).toMatchObject({ status: "done", answer: "by another" });
  expect((await setup.harness.state(run))?.termination?.kind).toBe("completed");
});

it("a worker whose lease ran out with nobody there takes it again and goes on", async () => {
  const store = world([]).options.store;
  let failures = 0;
  const shaky: typeof store = {
    ...store,
    acquireLease: async (run, owner, ttlMs, now) => {
      const isRenewal = asks.length === 1 && failures === 0;
      if (isRenewal) failures += 1;
      if (isRenewal) throw new Error("the store is not there");
      return store.acquireLease(run, owner, ttlMs, now);
    },
  };
  const asks: number[] = [];
  const model: ModelClient = {
    id: "scripted",
    generate: async (_request, { signal }) => {
      asks.push(asks.length);
      if (asks.length > 1) return final("second try");
      return new Promise((_resolve, reject) => {
        signal.addEventListener("abort", () => reject(new Error("aborted")), { once: true });
      });
    },
  };
  const setup = world([], { options: { store: shaky, leaseMs: LEASE_MS } });
  const harness = createHarness({ ...setup.options, model });
  const result = await harness.run("go").result;
  expect(result).toMatchObject({ status: "done", answer: "second try" });
  expect(failures).toBe(1);
});
