import { expect, it } from "vitest";
import { z } from "zod";
import { type AnyTool, contractOf, createToolExecutor, defineTool, toolFailure } from "../../src/tool/index.ts";

const base = defineTool({
  name: "pay",
  description: "Pays",
  level: "write",
  recovery: "keyed",
  input: z.strictObject({ to: z.string() }),
  execute: ({ to }) => ({ paid: to }),
});
const context = { idempotencyKey: "k" } as never;

it("is part of the contract only where there is one, so that other contracts stay as they were", () => {
  const plain = contractOf(base);
  const able = contractOf({ ...base, compensate: () => null });
  expect("compensable" in plain).toBe(false);
  expect(able.compensable).toBe(true);
  expect(able.contractHash).not.toBe(plain.contractHash);
});

it("refuses a compensation that could not be run", () => {
  const make = (change: Partial<AnyTool>) => () =>
    contractOf({ ...base, compensate: () => null, ...change } as AnyTool);
  expect(make({ compensate: "undo" as never })).toThrow(/compensate that cannot run/);
  expect(make({ level: "read", recovery: "read" })).toThrow(/compensate that cannot run/);
  expect(make({ name: "p".repeat(60) })).toThrow(/compensate that cannot run/);
  expect(make({ inTransaction: true, compensate: async () => null })).toThrow(/asynchronous/);
  expect(make({ name: "p".repeat(59) })).not.toThrow();
});

it("gets copies of arguments and result, and gives data whatever happens", async () => {
  const seen: unknown[] = [];
  const run = async (compensate: AnyTool["compensate"]) => {
    const executor = createToolExecutor([{ ...base, ...(compensate && { compensate }) }]);
    return await executor.compensate?.("pay", { to: "a" }, { paid: "a" }, context);
  };
  expect(await run((args, result, { idempotencyKey }) => void seen.push(args, result, idempotencyKey))).toEqual({
    ok: true,
    value: null,
  });
  expect(seen).toEqual([{ to: "a" }, { paid: "a" }, "k"]);
  expect(await run(() => toolFailure("CLOSED", "closed"))).toMatchObject({ ok: false, error: { code: "CLOSED" } });
  const thrown = await run(() => {
    throw new Error("secret");
  });
  expect(thrown).toMatchObject({ ok: false, error: { code: "tool_failed" } });
  expect(JSON.stringify(thrown)).not.toContain("secret");
  expect(await run(undefined)).toMatchObject({ ok: false });
});
