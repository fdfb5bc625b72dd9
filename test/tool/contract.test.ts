import { describe, expect, it } from "vitest";
import { z } from "zod";
import { BelayError } from "../../src/errors.ts";
import { type AnyTool, contractOf, createToolExecutor, hashContract, isToolName } from "../../src/tool/index.ts";

const base: AnyTool = {
  name: "refund",
  description: "Refunds one order",
  level: "write",
  recovery: "keyed",
  input: z.strictObject({ orderId: z.string() }),
  execute: () => null,
};

function codeOf(tool: Record<string, unknown>): string {
  try {
    createToolExecutor([{ ...base, ...tool } as AnyTool]);
    return "ok";
  } catch (error) {
    expect(error).toBeInstanceOf(BelayError);
    return (error as BelayError).code;
  }
}

describe("tool contracts", () => {
  it("has defaults and the schema of draft 2020-12", () => {
    expect(contractOf(base)).toMatchObject({
      name: "refund",
      timeoutMs: 30_000,
      inTransaction: false,
      untrusted: false,
      inputSchema: {
        $schema: "https://json-schema.org/draft/2020-12/schema",
        type: "object",
        properties: { orderId: { type: "string" } },
        required: ["orderId"],
        additionalProperties: false,
      },
    });
  });

  it.each([
    [{ name: "" }, "BELAY_TOOL_NAME"],
    [{ name: "refund\u200b" }, "BELAY_TOOL_NAME"],
    [{ name: "réfund" }, "BELAY_TOOL_NAME"],
    [{ name: "refund order" }, "BELAY_TOOL_NAME"],
    [{ name: "a".repeat(65) }, "BELAY_TOOL_NAME"],
    [{ name: "a".repeat(64) }, "ok"],
    [{ recovery: "queryable" }, "BELAY_TOOL_CONTRACT"],
    [{ recovery: "queryable", lookup: () => undefined }, "ok"],
    [{ level: "irreversible", recovery: "opaque" }, "BELAY_TOOL_CONTRACT"],
    [{ level: "irreversible", recovery: "opaque", risk: "may_happen_twice_or_unknown" }, "ok"],
    [{ level: "irreversible", recovery: "opaque", risk: "fine" }, "BELAY_TOOL_CONTRACT"],
    [{ level: "irreversible", recovery: "keyed" }, "ok"],
    [{ level: "write", recovery: "opaque" }, "ok"],
    [{ level: "read", recovery: "keyed" }, "BELAY_TOOL_CONTRACT"],
    [{ level: "write", recovery: "read" }, "BELAY_TOOL_CONTRACT"],
    [{ level: "read", recovery: "read" }, "ok"],
    [{ level: "root" }, "BELAY_TOOL_CONTRACT"],
    [{ recovery: "maybe" }, "BELAY_TOOL_CONTRACT"],
    [{ timeoutMs: 0 }, "BELAY_TOOL_CONTRACT"],
    [{ timeoutMs: 1.5 }, "BELAY_TOOL_CONTRACT"],
    [{ timeoutMs: Number.NaN }, "BELAY_TOOL_CONTRACT"],
    [{ timeoutMs: 3_600_001 }, "BELAY_TOOL_CONTRACT"],
    [{ timeoutMs: 3_600_000 }, "ok"],
    [{ inTransaction: true, execute: async () => null }, "BELAY_TOOL_CONTRACT"],
    [{ inTransaction: true }, "ok"],
    [{ execute: "later" }, "BELAY_TOOL_CONTRACT"],
    [{ input: z.object({ when: z.date() }) }, "BELAY_TOOL_SCHEMA"],
    [{ input: z.string() }, "BELAY_TOOL_SCHEMA"],
    [{ input: {} }, "BELAY_TOOL_SCHEMA"],
    [{ input: undefined }, "BELAY_TOOL_SCHEMA"],
  ])("checks %j at start-up: %s", (change, code) => {
    expect(codeOf(change)).toBe(code);
  });

  it("refuses two tools of one name", () => {
    expect(() => createToolExecutor([base, { ...base }])).toThrow(/Two tools are named "refund"/);
  });

  it("shows what cannot be seen in a bad name", () => {
    expect(() => contractOf({ ...base, name: "refund\u200b" })).toThrow(/"refund\\u\{200b\}"/);
    expect(isToolName("refund\u200b")).toBe(false);
  });

  it("hashes equal for any order of keys and different for any change", () => {
    const { contractHash, ...contract } = contractOf(base);
    expect(contractHash).toMatch(/^[0-9a-f]{64}$/);
    const reversed = Object.fromEntries(Object.entries(contract).reverse()) as unknown as typeof contract;
    expect(hashContract(reversed)).toBe(contractHash);
    const changes: Partial<AnyTool>[] = [
      { name: "refund2" },
      { description: "Refunds two orders" },
      { level: "irreversible" },
      { recovery: "opaque" },
      { input: z.strictObject({ orderId: z.string().min(1) }) },
      { timeoutMs: 29_999 },
      { inTransaction: true },
      { untrusted: true },
      { risk: "may_happen_twice_or_unknown" },
    ];
    const hashes = changes.map((change) => contractOf({ ...base, ...change }).contractHash);
    expect(new Set([contractHash, ...hashes]).size).toBe(changes.length + 1);
  });
});
