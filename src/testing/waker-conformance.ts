import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Wake, Waker } from "../engine/index.ts";
import type { ConformanceCase } from "./conformance-case.ts";

/** A fresh waker. `another` gives a second one on the same wakes, as another process would; absent when it has none. */
export interface OpenedWaker {
  readonly waker: Waker;
  another?(): Promise<Waker>;
  close(): Promise<void>;
}

interface WakerCase {
  readonly name: string;
  run(opened: OpenedWaker): Promise<void>;
}

// Generous: a busy machine must not fail a correct waker. No case waits this long when all is well.
const PATIENCE_MS = 20_000;
// Long enough for a wrong second delivery to show.
const SILENCE_MS = 150;

const CASES: readonly WakerCase[] = [
  {
    name: "a wake sent before or after serving begins is delivered once",
    run: async ({ waker }) => {
      const seen: string[] = [];
      await waker.wake(wakeOf("before"));
      const served = await waker.serve(async (wake) => {
        seen.push(wake.key);
      });
      await until(() => seen.length === 1);
      await waker.wake(wakeOf("after", "run-2"));
      await until(() => seen.length === 2);
      await sleep(SILENCE_MS);
      assert.deepEqual(seen, ["before", "after"]);
      await served.close();
    },
  },
  {
    name: "a wake says which run it is for and why",
    run: async ({ waker }) => {
      const seen: Wake[] = [];
      const served = await waker.serve(async (wake) => {
        seen.push(wake);
      });
      await waker.wake({ run: { tenant: "shop", runId: "r-1" }, why: "approval", key: "k-1" });
      await until(() => seen.length === 1);
      const { run, why, key } = seen[0] as Wake;
      assert.deepEqual({ run, why, key }, { run: { tenant: "shop", runId: "r-1" }, why: "approval", key: "k-1" });
      await served.close();
    },
  },
  {
    name: "a second wake with the key of one that waits is dropped; after delivery the key is free again",
    run: async ({ waker }) => {
      const seen: string[] = [];
      for (let count = 0; count < 3; count += 1) {
        await waker.wake(wakeOf("same"));
      }
      const served = await waker.serve(async (wake) => {
        seen.push(wake.key);
      });
      await until(() => seen.length === 1);
      await sleep(SILENCE_MS);
      assert.equal(seen.length, 1);
      await waker.wake(wakeOf("same"));
      await until(() => seen.length === 2);
      await served.close();
    },
  },
  {
    name: "a wake sent while one of the same key is being delivered is not lost",
    run: async ({ waker }) => {
      let count = 0;
      const served = await waker.serve(async (wake) => {
        count += 1;
        if (count === 1) {
          await waker.wake(wake);
        }
      });
      await waker.wake(wakeOf("same"));
      await until(() => count === 2);
      await served.close();
    },
  },
  {
    name: "wakes of one run are delivered one at a time, those of different runs do not wait for each other",
    run: async ({ waker }) => {
      let running = 0;
      let most = 0;
      let done = 0;
      const gate = Promise.withResolvers<void>();
      const served = await waker.serve(async (wake) => {
        if (wake.run.runId === "slow") {
          await gate.promise;
          return;
        }
        running += 1;
        most = Math.max(most, running);
        await sleep(5);
        running -= 1;
        done += 1;
      });
      await waker.wake(wakeOf("blocked", "slow"));
      await Promise.all([1, 2, 3, 4, 5].map((number) => waker.wake(wakeOf(`k-${number}`))));
      await until(() => done === 5);
      assert.equal(most, 1);
      gate.resolve();
      await served.close();
    },
  },
  {
    name: "a delayed wake comes when it is due, whatever else is sent, and never earlier",
    run: async ({ waker }) => {
      const seen: string[] = [];
      const notBefore = Date.now() + 120;
      let deliveredAt = 0;
      const served = await waker.serve(async (wake) => {
        seen.push(wake.key);
        deliveredAt = Date.now();
      });
      await waker.wake({ ...wakeOf("far", "run-3"), notBefore: Date.now() + 2 ** 33 });
      await waker.wake({ ...wakeOf("later"), notBefore });
      await waker.wake(wakeOf("now", "run-2"));
      await until(() => seen.length === 2);
      assert.deepEqual(seen, ["now", "later"]);
      assert.ok(deliveredAt >= notBefore, "delivered too early");
      await sleep(SILENCE_MS);
      assert.equal(seen.length, 2);
      await served.close();
    },
  },
  {
    name: "a wake whose handler throws comes again",
    run: async ({ waker }) => {
      let count = 0;
      const served = await waker.serve(async () => {
        count += 1;
        if (count < 3) {
          throw new Error("not yet");
        }
      });
      await waker.wake(wakeOf("stubborn"));
      await until(() => count === 3);
      await sleep(SILENCE_MS);
      assert.equal(count, 3);
      await served.close();
    },
  },
  {
    name: "closing tells the handlers, waits for them, and keeps the wake that they had",
    run: async ({ waker }) => {
      const seen: string[] = [];
      const served = await waker.serve(async (wake, signal) => {
        seen.push(`began ${wake.key}`);
        await new Promise<void>((resolve) => signal.addEventListener("abort", () => resolve(), { once: true }));
        seen.push("told");
      });
      await waker.wake(wakeOf("interrupted"));
      await until(() => seen.length === 1);
      await served.close();
      assert.deepEqual(seen, ["began interrupted", "told"]);
      await waker.wake(wakeOf("meanwhile", "run-2"));
      await sleep(SILENCE_MS);
      assert.equal(seen.length, 2);
      const again = await waker.serve(async (wake) => {
        seen.push(wake.key);
      });
      await until(() => seen.length === 4);
      assert.deepEqual(seen.slice(2).sort(), ["interrupted", "meanwhile"]);
      await again.close();
    },
  },
  {
    name: "two servers of the same wakes share them and never work on one run at once",
    run: async ({ waker, another }) => {
      const other = await another?.();
      const running = new Set<string>();
      let overlaps = 0;
      const seen: string[] = [];
      const advance = async ({ run, key }: Wake): Promise<void> => {
        // Not an assertion here: what a handler throws is only delivered again.
        overlaps += running.has(run.runId) ? 1 : 0;
        running.add(run.runId);
        await sleep(2);
        running.delete(run.runId);
        seen.push(key);
      };
      const served = await Promise.all([waker.serve(advance), (other ?? waker).serve(advance)]);
      const keys = Array.from({ length: 24 }, (_, index) => `k-${index}`);
      await Promise.all(
        keys.map((key, index) => (index % 2 === 0 ? waker : (other ?? waker)).wake(wakeOf(key, `run-${index % 4}`))),
      );
      await until(() => seen.length >= keys.length);
      await sleep(SILENCE_MS);
      assert.deepEqual(seen.toSorted(), keys.toSorted());
      assert.equal(overlaps, 0, "a run was advanced twice at once");
      await Promise.all(served.map((server) => server.close()));
    },
  },
];

/** Everything that a waker promises, as cases for any test runner. `open` gives a fresh one for each case. */
export function wakerConformance(open: () => Promise<OpenedWaker>): readonly ConformanceCase[] {
  return CASES.map(({ name, run }) => ({
    name,
    run: async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    },
  }));
}

function wakeOf(key: string, runId = "run-1"): Wake {
  return { run: { tenant: "default", runId }, why: "start", key };
}

async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    assert.ok(performance.now() < deadline, "the expected wake was not delivered");
    await sleep(2);
  }
}
