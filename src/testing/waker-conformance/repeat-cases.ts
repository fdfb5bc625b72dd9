import assert from "node:assert/strict";
import { DELAY_MS, silence, until, type WakerCase, wakeOf, warmUp } from "./waker-case.ts";

/** What comes once, and what comes again. */
export const REPEAT_CASES: readonly WakerCase[] = [
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
      await silence();
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
      await silence();
      assert.equal(count, 3);
      await served.close();
    },
  },
  {
    name: "a delayed wake that is sent again while it waits comes once",
    run: async ({ waker }) => {
      const seen: string[] = [];
      await warmUp(waker);
      const notBefore = Date.now() + DELAY_MS;
      for (let count = 0; count < 3; count += 1) {
        await waker.wake({ ...wakeOf("expiry"), notBefore });
      }
      const served = await waker.serve(async (wake) => {
        seen.push(wake.key);
      });
      await waker.wake({ ...wakeOf("expiry"), notBefore });
      await until(() => seen.length === 1);
      await silence();
      assert.equal(seen.length, 1);
      await served.close();
    },
  },
  {
    name: "wakes of one key that are sent while it is being delivered come as one",
    run: async ({ waker }) => {
      let count = 0;
      const served = await waker.serve(async (wake) => {
        count += 1;
        if (count === 1) {
          for (let again = 0; again < 3; again += 1) {
            await waker.wake(wake);
          }
        }
      });
      await waker.wake(wakeOf("same"));
      await until(() => count === 2);
      await silence();
      assert.equal(count, 2);
      await waker.wake(wakeOf("same"));
      await until(() => count === 3);
      await served.close();
    },
  },
  {
    name: "a wake that is sent while one of its key fails is not lost",
    run: async ({ waker }) => {
      let isFailing = true;
      let done = 0;
      let failed = 0;
      const served = await waker.serve(async (wake) => {
        if (isFailing) {
          failed += 1;
          await waker.wake(wake);
          throw new Error("not yet");
        }
        done += 1;
      });
      await waker.wake(wakeOf("failing"));
      await until(() => failed >= 1);
      isFailing = false;
      await until(() => done >= 1);
      await served.close();
    },
  },
  {
    name: "a wake that fails again and again does not keep other runs from theirs",
    run: async ({ waker }) => {
      const seen: string[] = [];
      let failures = 0;
      const served = await waker.serve(async (wake) => {
        if (wake.run.runId === "broken") {
          failures += 1;
          throw new Error("never");
        }
        seen.push(wake.key);
      });
      await waker.wake(wakeOf("bad", "broken"));
      await until(() => failures > 0);
      for (let count = 0; count < 5; count += 1) {
        await waker.wake(wakeOf(`good-${count}`, `run-${count}`));
      }
      await until(() => seen.length === 5);
      await until(() => failures > 1);
      await served.close();
    },
  },
];
