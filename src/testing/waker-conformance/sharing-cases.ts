import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Wake } from "../../engine/index.ts";
import { DELAY_MS, silence, until, type WakerCase, wakeOf, warmUp } from "./waker-case.ts";

/** Several runs and several workers. */
export const SHARING_CASES: readonly WakerCase[] = [
  {
    name: "wakes of one run are delivered one at a time, those of different runs do not wait for each other",
    run: async ({ waker }) => {
      if (!waker.promises.serialPerRun) {
        return;
      }
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
      await silence();
      assert.deepEqual(seen.toSorted(), keys.toSorted());
      assert.ok(overlaps === 0 || !waker.promises.serialPerRun, "a run was advanced twice at once");
      await Promise.all(served.map((server) => server.close()));
    },
  },
  {
    name: "what survives the process is delivered by another, delayed or not",
    run: async ({ waker, another }) => {
      if (waker.promises.survives === "process") {
        return;
      }
      assert.ok(another !== undefined, "a waker that survives its process must be openable from another");
      await warmUp(waker);
      const notBefore = Date.now() + DELAY_MS;
      await waker.wake(wakeOf("now"));
      await waker.wake({ ...wakeOf("later", "run-2"), notBefore });
      const seen: string[] = [];
      let isEarly = false;
      const served = await (await another()).serve(async (wake) => {
        isEarly ||= wake.key === "later" && Date.now() < notBefore;
        seen.push(wake.key);
      });
      await until(() => seen.length === 2);
      assert.deepEqual(seen, ["now", "later"]);
      assert.equal(isEarly, false, "delivered too early");
      await served.close();
    },
  },
];
