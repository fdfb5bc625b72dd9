import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { JsonValue, ToolError } from "../../src/core/index.ts";
import { type AnyTool, createToolExecutor, defineTool, readArguments, type ToolSchema } from "../../src/tool/index.ts";

function toolWith(input: ToolSchema, level: "read" | "write" = "write"): AnyTool {
  return defineTool({
    name: "restock",
    description: "Orders stock",
    level,
    recovery: level === "read" ? "read" : "keyed",
    input,
    execute: () => null,
  });
}

function check(input: ToolSchema, args: JsonValue, level: "read" | "write" = "write") {
  return createToolExecutor([toolWith(input, level)]).check("restock", args);
}

async function refusal(input: ToolSchema, args: JsonValue): Promise<ToolError> {
  const checked = await check(input, args);
  if (checked.ok) {
    throw new Error("the arguments were accepted");
  }
  return checked.error;
}

const restock = z.strictObject({
  sku: z.string().regex(/^SKU-\d{4}$/),
  quantity: z.int().min(1).max(5000),
  priority: z.enum(["standard", "urgent"]).default("standard"),
  items: z.array(z.strictObject({ count: z.int() })).optional(),
});

describe("readArguments", () => {
  it("reads text strictly and values by the same rules", () => {
    expect(readArguments({ text: '{"a":1}' })).toEqual({ ok: true, args: { a: 1 } });
    expect(readArguments({ json: { a: 1 } })).toEqual({ ok: true, args: { a: 1 } });
    expect(readArguments({ json: { a: Number.NaN } })).toMatchObject({ ok: false, error: { code: "not_finite" } });
  });

  it("json-01, invalid-json-args, empty-string-args: gives a structured error, or {} for nothing", () => {
    expect(readArguments({ text: '{"cents":500,"cents":500000}' })).toEqual({
      ok: false,
      error: {
        code: "duplicate_key",
        message: 'the key "cents" appears twice in one object',
        retryable: false,
        details: {
          path: "cents",
          problem: 'the key "cents" appears twice in one object',
          hint: "Send the arguments again as one JSON object.",
        },
      },
    });
    expect(readArguments({ text: '{"q": "x"' })).toMatchObject({ ok: false, error: { code: "invalid_json" } });
    expect(readArguments({ text: "" })).toEqual({ ok: true, args: {} });
  });
});

describe("argument check", () => {
  it("gives the validated value at once", () => {
    expect(check(restock, { sku: "SKU-1015", quantity: 5 })).toEqual({
      ok: true,
      args: { sku: "SKU-1015", quantity: 5, priority: "standard" },
    });
  });

  it("validation-detail-to-model: tells path, problem, what was sent, what is expected, and how to mend it", async () => {
    const error = await refusal(restock, { sku: "SKU-1015", quantity: "fifty" });
    expect(error).toEqual({
      code: "invalid_arguments",
      message: 'quantity: "fifty" is not an integer',
      retryable: false,
      details: {
        path: "quantity",
        problem: '"fifty" is not an integer',
        received: '"fifty"',
        expected: { type: "integer", minimum: 1, maximum: 5000 },
        hint: "Send a whole number without quotes.",
      },
    });
  });

  it.each([
    [{ sku: "1015", quantity: 1 }, 'sku: "1015" does not match ^SKU-\\d{4}$'],
    [{ sku: "SKU-1015", quantity: 0 }, "quantity: 0 is less than 1"],
    [{ sku: "SKU-1015", quantity: 5001 }, "quantity: 5001 is more than 5000"],
    [{ sku: "SKU-1015", quantity: 1.5 }, "quantity: 1.5 is not an integer"],
    [{ sku: "SKU-1015", quantity: true }, "quantity: true is not an integer"],
    [{ sku: "SKU-1015", quantity: 1, priority: "soon" }, 'priority: "soon" is not one of "standard", "urgent"'],
    [{ sku: "SKU-1015" }, "missing argument quantity"],
    [{ sku: "SKU-1015", quantity: 1, items: [{ count: 1 }, {}] }, "items[1]: missing argument count"],
    [{ sku: "SKU-1015", quantity: 1, items: [{ count: 1, x: 1 }] }, "items[0]: unexpected argument(s): x"],
    [{ sku: "SKU-1015", quantity: 1, zebra: 1, apple: 2 }, "unexpected argument(s): apple, zebra"],
    [
      { zebra: 1, quantity: "x" },
      'unexpected argument(s): zebra; missing argument sku; quantity: "x" is not an integer',
    ],
  ])("says what is wrong with %j", async (args, message) => {
    expect((await refusal(restock, args)).message).toBe(message);
  });

  it.each([
    ["text", "string"],
    [[1], "array"],
    [null, "null"],
    [7, "number"],
  ])("refuses arguments that are no object: %j", async (args, type) => {
    expect((await refusal(restock, args)).message).toBe(`arguments must be a JSON object, got ${type}`);
  });

  it("tells at most five issues and says that there are more", async () => {
    const many = z.strictObject(
      Object.fromEntries(["a", "b", "c", "d", "e", "f", "g"].map((key) => [key, z.string()])),
    );
    const error = await refusal(many, {});
    expect(error.message.endsWith("missing argument e; and 2 more")).toBe(true);
    expect((error.details as { more: unknown[] }).more).toHaveLength(4);
  });

  it("bounds what it repeats and leaves secrets out", async () => {
    const long = await refusal(restock, { sku: "x".repeat(5000), quantity: 1 });
    expect(long.message.length).toBeLessThan(300);
    expect(JSON.stringify(long.details).length).toBeLessThan(1000);
    const login = z.strictObject({ password: z.string().max(3), auth: z.strictObject({ apiKey: z.int() }) });
    const error = await refusal(login, { password: "hunter2", auth: { apiKey: "k-12345" } });
    expect(JSON.stringify(error)).not.toMatch(/hunter2|k-12345/);
    expect(error.message).toContain("password: the value is longer than 3 characters");
    const whole = await refusal(z.strictObject({ auth: z.string() }), { auth: { apiKey: "k-12345" } });
    expect(JSON.stringify(whole)).not.toContain("k-12345");
  });

  it("shows invisible characters of keys and values", async () => {
    const error = await refusal(restock, { "sku\u200b": "SKU-1015", quantity: "5\u202e" });
    expect(error.message).toContain("unexpected argument(s): sku\\u{200b}");
    expect(error.message).toContain('"5\\u{202e}"');
  });

  it.each(["read", "write"] as const)(
    "proto-and-extra-args: refuses what a stripping schema would drop (%s)",
    async (level) => {
      const stripping = z.object({ order: z.string(), lines: z.array(z.object({ n: z.int() })).optional() });
      expect(await check(stripping, { order: "A", zebra: 1, admin: true }, level)).toMatchObject({
        ok: false,
        error: { code: "invalid_arguments", message: "unexpected argument(s): admin, zebra" },
      });
      expect(await check(stripping, { order: "A", lines: [{ n: 1, free: true }] }, level)).toMatchObject({
        error: { message: "unexpected argument(s): lines[0].free" },
      });
      expect(await check(stripping, { order: "A", lines: [{ n: 1 }] }, level)).toMatchObject({ ok: true });
    },
  );

  it("refuses a transform that hides the arguments, and takes one that changes a value", async () => {
    const hiding = z.object({ a: z.string(), b: z.object({ c: z.int() }).transform(() => "hidden") });
    expect((await refusal(hiding, { a: "x", b: { c: 1 } })).message).toBe("unexpected argument(s): b.c");
    const trimming = z.object({ a: z.string().trim() });
    expect(check(trimming, { a: " x " })).toEqual({ ok: true, args: { a: "x" } });
  });

  it("refuses validated arguments that are not JSON", async () => {
    const error = await refusal(z.object({ day: z.string().transform(() => new Date(0)) }), { day: "2026-01-01" });
    expect(error).toMatchObject({ code: "arguments_not_json", details: { path: "day" } });
  });

  it("schema-01: looks at own properties only", async () => {
    const schema = z.object({ toString: z.unknown(), constructor: z.unknown() });
    const lenient = rawSchema({ type: "object", required: ["toString", "constructor"] });
    expect((await refusal(lenient, {})).message).toBe("missing argument toString");
    expect((await refusal(schema, {})).code).toBe("invalid_arguments");
    expect(check(lenient, { toString: 1, constructor: 2 })).toMatchObject({ ok: true });
  });

  it("schema-04: refuses 20,000 nested objects before the schema sees them", async () => {
    let args: JsonValue = 1;
    for (let level = 0; level < 20_000; level += 1) {
      args = { n: args };
    }
    expect((await refusal(restock, args)).code).toBe("too_deep");
  });

  it("secret-in-error-text: a schema that throws or rejects tells nothing of its exception", async () => {
    const seen: unknown[] = [];
    const throwing = rawSchema({ type: "object" }, () => {
      throw new Error("db password=hunter2 refused");
    });
    const rejecting = rawSchema({ type: "object" }, () => Promise.reject(new Error("db password=hunter2 refused")));
    for (const input of [throwing, rejecting]) {
      const executor = createToolExecutor([toolWith(input)], { onError: (tool, error) => seen.push([tool, error]) });
      const checked = await executor.check("restock", {});
      expect(checked).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
      expect(JSON.stringify(checked)).not.toContain("hunter2");
    }
    expect(seen).toHaveLength(2);
  });

  it("survives a schema that answers with junk", async () => {
    for (const junk of [undefined, null, 5, { issues: "many" }, { issues: [null] }]) {
      const input = rawSchema({ type: "object" }, () => junk);
      expect((await refusal(input, {})).code, String(junk)).toMatch(/^(invalid_arguments|arguments_not_json)$/);
    }
  });

  it("waits for an asynchronous schema, and gives it a copy", async () => {
    const args = { n: 1 };
    const input = rawSchema({ type: "object" }, async (value) => {
      (value as { n: number }).n = 2;
      return { value };
    });
    expect(await check(input, args)).toEqual({ ok: true, args: { n: 2 } });
    expect(args).toEqual({ n: 1 });
  });
});

function rawSchema(
  schema: Record<string, unknown>,
  validate: (value: unknown) => unknown = (value) => ({ value }),
): ToolSchema {
  return {
    "~standard": {
      version: 1,
      vendor: "test",
      validate: validate as ToolSchema["~standard"]["validate"],
      jsonSchema: { input: () => schema, output: () => schema },
    },
  };
}
