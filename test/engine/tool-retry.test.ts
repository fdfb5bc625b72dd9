import { describe, expect, it } from "vitest";
import { type AnyTool, type ToolFailure, toolFailure } from "../../src/index.ts";
import { calls, final, refundTool, world } from "./support.ts";

/** Refuses so many times, then works; tells the keys that it was called with. */
async function outcomeOf(
  refusals: number,
  failure: (count: number) => ToolFailure,
  change: Partial<AnyTool> = {},
): Promise<{ readonly status: string | undefined; readonly keys: readonly string[]; readonly starts: number }> {
  const keys: string[] = [];
  const setup = world([calls(["refund", { order: "A", cents: 1 }]), final("ok")], {
    tools: (ledger) => [
      refundTool(ledger, {
        level: "write",
        execute: (_args: unknown, { idempotencyKey }: { readonly idempotencyKey: string }) => {
          keys.push(idempotencyKey);
          return keys.length <= refusals ? failure(keys.length) : { done: true };
        },
        ...change,
      }),
    ],
  });
  const { calls: made } = await setup.harness.run("go", { runId: "r" }).result;
  const { outcome } = made[0] ?? {};
  const starts = (await setup.types("r")).filter((type) => type === "call.started").length;
  return { status: outcome?.status === "failed" ? outcome.error.code : outcome?.status, keys, starts };
}

const busy = (): ToolFailure => toolFailure("throttled", "the bank is busy", { retryable: true });

describe("a tool that is throttled", () => {
  it("is called again under the same key, in one start, until it takes the call up", async () => {
    const { status, keys, starts } = await outcomeOf(2, busy);
    expect([status, keys.length, new Set(keys).size, starts]).toEqual(["ok", 3, 1, 1]);
  });

  it("is given up after four attempts, and the model is told what it said", async () => {
    const { status, keys } = await outcomeOf(9, busy);
    expect([status, keys.length]).toEqual(["throttled", 4]);
  });

  it("is not called again after another answer", async () => {
    const turned = (count: number) =>
      count === 1 ? busy() : toolFailure("out_of_stock", "later", { retryable: true });
    const { status, keys } = await outcomeOf(9, turned);
    expect([status, keys.length]).toEqual(["out_of_stock", 2]);
  });

  it("is not called again when it cannot drop a repetition, says something else, or wants more time than a call has", async () => {
    for (const recovery of ["opaque", "queryable"] as const) {
      const lookup = () => undefined;
      expect((await outcomeOf(9, busy, { recovery, lookup })).keys).toHaveLength(1);
    }
    const other = await outcomeOf(9, () => toolFailure("out_of_stock", "later", { retryable: true }));
    const final = await outcomeOf(9, () => toolFailure("throttled", "never", { retryable: false }));
    const long = await outcomeOf(
      9,
      () => toolFailure("throttled", "later", { retryable: true, details: { retryAfterMs: 60_000 } }),
      { timeoutMs: 1000 },
    );
    expect([other, final, long].map(({ keys }) => keys.length)).toEqual([1, 1, 1]);
  });
});
