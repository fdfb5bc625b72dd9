import assert from "node:assert/strict";
import type { Wake } from "../../engine/index.ts";
import { DELAY_MS, silence, until, type WakerCase, wakeOf, warmUp } from "./waker-case.ts";

/** What is sent comes, when it is due, and says what it is. */
export const DELIVERY_CASES: readonly WakerCase[] = [
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
      await silence();
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
    name: "a delayed wake comes when it is due, whatever else is sent, and never earlier",
    run: async ({ waker }) => {
      const seen: string[] = [];
      await warmUp(waker);
      const notBefore = Date.now() + DELAY_MS;
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
      await silence();
      assert.equal(seen.length, 2);
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
      await silence();
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
    name: "keys and ids come back as they were sent, whatever is in them",
    run: async ({ waker }) => {
      const seen: Wake[] = [];
      const served = await waker.serve(async (wake) => {
        seen.push(wake);
      });
      const strange = "a/b c?d=e&f#g%2F:\"'\\ü漢🙂";
      await waker.wake({ run: { tenant: "a/b", runId: "c d:1" }, why: "message", key: strange });
      // Joined by a slash this would be the same run.
      await waker.wake({ run: { tenant: "a", runId: "b/c d:1" }, why: "message", key: `${strange}2` });
      await until(() => seen.length === 2);
      assert.deepEqual(
        seen.map(({ run, key }) => ({ run, key })).toSorted((one, other) => one.key.length - other.key.length),
        [
          { run: { tenant: "a/b", runId: "c d:1" }, key: strange },
          { run: { tenant: "a", runId: "b/c d:1" }, key: `${strange}2` },
        ],
      );
      await served.close();
    },
  },
  {
    name: "closing waits for a handler that does not listen",
    run: async ({ waker }) => {
      let isDone = false;
      let hasBegun = false;
      const served = await waker.serve(async () => {
        hasBegun = true;
        await silence();
        isDone = true;
      });
      await waker.wake(wakeOf("deaf"));
      await until(() => hasBegun);
      await served.close();
      assert.ok(isDone, "close came back while the handler ran");
    },
  },
];
