import { expect, it } from "vitest";
import { createMemoryStore, type Store, verifyStoreAudit } from "../../src/journal/index.ts";
import { AMY, DANA, gateOf } from "./support.ts";

class Crash extends Error {}

/** A store that dies at the `at`-th of its points: before a commit, or after it and before the answer. */
function mortal(inner: Store, at: number): { readonly store: Store; readonly points: () => number } {
  let count = 0;
  const point = (): void => {
    count += 1;
    if (count >= at) throw new Crash();
  };
  return {
    points: () => count,
    store: {
      ...inner,
      commit: async (commit) => {
        point();
        const result = await inner.commit(commit);
        point();
        return result;
      },
      releaseLease: async (...args) => {
        if (count < at) await inner.releaseLease(...args);
      },
    },
  };
}

it.each(["note", "erase"] as const)(
  "a crash at any point of %s loses no point and does nothing twice",
  async (name) => {
    const once = async (at: number) => {
      let now = 1_800_000_000_000;
      const clock = { now: () => now };
      const inner = createMemoryStore();
      const dying = mortal(inner, at);
      const first = gateOf({ store: dying.store, clock, leaseMs: 1000 });
      const done: string[] = first.effects;
      const live = async (setup: typeof first) => {
        let outcome = await setup.gate.execute(name, { id: "x" }, { actor: AMY, runId: "r" });
        if (outcome.status === "approval_required") {
          outcome = await setup.gate.approveAndExecute(outcome.approvalId, { actor: DANA });
        }
        return outcome;
      };
      try {
        await live(first);
      } catch (error) {
        if (!(error instanceof Crash)) throw error;
      }
      now += 5000;
      const second = gateOf({ store: inner, clock, leaseMs: 1000, actions: first.options.actions });
      const outcome = await live(second);
      const { used, reserved } = await inner.budget("default", "points");
      return { points: dying.points(), outcome, done, used, reserved, inner };
    };
    const whole = await once(Number.POSITIVE_INFINITY);
    // Two commits: the intent before the effect, the outcome after it. A question has more.
    expect(whole.points).toBeGreaterThanOrEqual(4);
    for (let at = 1; at <= whole.points; at += 1) {
      const { outcome, done, used, reserved, inner } = await once(at);
      expect(outcome.status, `death at ${at}`).toBe("done");
      // A far side drops the second of two equal keys; this one is in memory and counts what reached it.
      expect(new Set(done), `death at ${at}`).toEqual(new Set([`${name} x`]));
      expect([used, reserved], `death at ${at}`).toEqual([name === "note" ? 5 : 40, 0]);
      expect((await verifyStoreAudit(inner)).ok).toBe(true);
    }
  },
);
