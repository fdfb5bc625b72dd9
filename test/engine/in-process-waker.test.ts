import fc from "fast-check";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";
import { createHeap } from "../../src/engine/heap.ts";
import { createInProcessWaker } from "../../src/engine/in-process-waker.ts";
import type { Wake, Waker } from "../../src/engine/index.ts";
import { naiveWaker } from "./naive-waker.ts";

const REDELIVERY_MS = 100;

type Step =
  | { readonly kind: "wake"; readonly key: number; readonly delayMs: number }
  | { readonly kind: "pass"; readonly ms: number };

const STEPS = fc.array(
  fc.oneof(
    {
      weight: 4,
      arbitrary: fc.record({
        kind: fc.constant("wake" as const),
        key: fc.nat(11),
        delayMs: fc.oneof(fc.constant(0), fc.nat(120), fc.constant(5000)),
      }),
    },
    { weight: 1, arbitrary: fc.record({ kind: fc.constant("pass" as const), ms: fc.nat(150) }) },
  ),
  { maxLength: 60 },
);

/** What a handler of this key does: how long it takes, how often it fails, and whether it is sent again meanwhile. */
interface Behaviour {
  readonly takesMs: number;
  readonly failures: number;
  readonly isSentAgain: boolean;
}

const BEHAVIOURS = fc.array(
  fc.record({ takesMs: fc.oneof(fc.constant(0), fc.nat(90)), failures: fc.nat(3), isSentAgain: fc.boolean() }),
  { minLength: 12, maxLength: 12 },
);

/** Everything that a waker delivers, and when. Three keys belong to each run. */
async function deliveries(
  waker: Pick<Waker, "wake" | "serve">,
  steps: readonly Step[],
  behaviours: readonly Behaviour[],
): Promise<readonly string[]> {
  vi.setSystemTime(0);
  const seen: string[] = [];
  const counts = new Map<string, number>();
  const wakeOf = (key: number): Wake => ({
    run: { tenant: "t", runId: `r${key % 4}` },
    why: "retry",
    key: String(key),
  });
  const serving = await waker.serve(async (wake) => {
    const count = (counts.get(wake.key) ?? 0) + 1;
    counts.set(wake.key, count);
    seen.push(`${Date.now()} ${wake.key} ${wake.run.runId}`);
    const { takesMs = 0, failures = 0, isSentAgain = false } = behaviours[Number(wake.key)] ?? {};
    if (isSentAgain && count === failures + 1) await waker.wake(wake);
    if (takesMs > 0) await new Promise((resolve) => setTimeout(resolve, takesMs));
    if (count <= failures) throw new Error("not yet");
  });
  for (const step of steps) {
    if (step.kind === "pass") await vi.advanceTimersByTimeAsync(step.ms);
    else {
      const notBefore = step.delayMs === 0 ? {} : { notBefore: Date.now() + step.delayMs };
      await waker.wake({ ...wakeOf(step.key), ...notBefore });
    }
  }
  await vi.advanceTimersByTimeAsync(20_000);
  await serving.close();
  return seen;
}

describe("the in-process waker", () => {
  beforeEach(() => {
    vi.useFakeTimers();
  });
  afterEach(() => {
    vi.useRealTimers();
  });

  it("delivers what a waker does that goes through every wake at each look, in the same order", async () => {
    await fc.assert(
      fc.asyncProperty(STEPS, BEHAVIOURS, async (steps, behaviours) => {
        const naive = await deliveries(naiveWaker(REDELIVERY_MS), steps, behaviours);
        const waker = createInProcessWaker({ redeliveryMs: REDELIVERY_MS });
        expect(await deliveries(waker, steps, behaviours)).toEqual(naive);
      }),
      { numRuns: 150 },
    );
  });

  it("looks at no wake that is far away when another one comes", async () => {
    const waker = createInProcessWaker();
    vi.setSystemTime(0);
    let looks = 0;
    const far = 1_000_000;
    for (let index = 0; index < 1000; index += 1) {
      await waker.wake({
        run: { tenant: "t", runId: `far-${index}` },
        why: "expiry",
        key: `far-${index}`,
        notBefore: far + index,
      });
    }
    const seen: string[] = [];
    const serving = await waker.serve(async ({ key }) => {
      seen.push(key);
    });
    await vi.advanceTimersByTimeAsync(0);
    const stringify = vi.spyOn(JSON, "stringify").mockImplementation((...args: unknown[]) => {
      looks += 1;
      return String(args[0]);
    });
    await waker.wake({ run: { tenant: "t", runId: "near" }, why: "start", key: "near" });
    await vi.advanceTimersByTimeAsync(10);
    stringify.mockRestore();
    expect(seen).toEqual(["near"]);
    // The name of its own run, and of no other.
    expect(looks).toBeLessThan(10);
    await serving.close();
  });
});

it("a heap gives its items in order, whatever was taken in between", () => {
  fc.assert(
    fc.property(fc.array(fc.option(fc.integer({ min: 0, max: 50 }), { nil: undefined })), (steps) => {
      const heap = createHeap<number>((one, other) => one < other);
      const plain: number[] = [];
      for (const step of steps) {
        if (step === undefined) {
          plain.sort((one, other) => one - other);
          expect(heap.pop()).toBe(plain.shift());
        } else {
          heap.push(step);
          plain.push(step);
        }
        expect(heap.size).toBe(plain.length);
        expect(heap.peek()).toBe(plain.length === 0 ? undefined : Math.min(...plain));
      }
    }),
  );
});
