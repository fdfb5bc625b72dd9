import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  createToolExecutor,
  defineTool,
  LOOKUP_FAILED,
  type ToolContext,
  toolFailure,
} from "../../src/tool/index.ts";

// Written as a constant, so that no lint takes the objects below for mistakes.
const THEN = "then";

const context: ToolContext = {
  runId: "run_1",
  tenant: "default",
  callId: "call_1",
  principal: { kind: "customer", id: "u1" },
  idempotencyKey: "key_1",
  attempt: 1,
  now: 0,
  signal: new AbortController().signal,
};

function tool(execute: (args: unknown, context: ToolContext) => unknown, more: Partial<AnyTool> = {}): AnyTool {
  return defineTool({
    name: "act",
    description: "Acts",
    level: "write",
    recovery: "keyed",
    input: z.looseObject({}),
    execute,
    ...more,
  });
}

function run(
  execute: (args: unknown, context: ToolContext) => unknown,
  onError?: (tool: string, error: unknown) => void,
) {
  return createToolExecutor([tool(execute)], onError === undefined ? {} : { onError }).execute("act", {}, context);
}

const failed = {
  ok: false,
  error: { code: "tool_failed", message: "the tool failed; no detail is given", retryable: false },
};

describe("in-process executor", () => {
  it("gives a synchronous tool's result at once and a promise's later", async () => {
    expect(run(() => ({ done: true }))).toEqual({ ok: true, value: { done: true } });
    const later = run(async () => 5);
    expect(later).toBeInstanceOf(Promise);
    expect(await later).toEqual({ ok: true, value: 5 });
    expect(await run(() => ({ [THEN]: (resolve: (value: unknown) => void) => resolve(6) }))).toEqual({
      ok: true,
      value: 6,
    });
  });

  it("hands over arguments and context, and keeps the recorded arguments from being written to", () => {
    const args = { lines: [1] };
    const seen: unknown[] = [];
    const executor = createToolExecutor([
      tool((given, with_) => {
        (given as { lines: number[] }).lines.push(2);
        seen.push(given, with_);
        return null;
      }),
    ]);
    expect(executor.execute("act", args, context)).toEqual({ ok: true, value: null });
    expect(seen).toEqual([{ lines: [1, 2] }, context]);
    expect(args).toEqual({ lines: [1] });
  });

  it("secret-in-error-text: tells the hook of an exception and the model nothing", async () => {
    const seen: unknown[] = [];
    const secret = new Error("db password=hunter2 refused");
    const onError = (name: string, error: unknown) => seen.push([name, error]);
    expect(
      run(() => {
        throw secret;
      }, onError),
    ).toEqual(failed);
    expect(await run(() => Promise.reject(secret), onError)).toEqual(failed);
    expect(
      await run(async () => {
        throw secret;
      }, onError),
    ).toEqual(failed);
    expect(
      run(() => {
        throw undefined;
      }, onError),
    ).toEqual(failed);
    expect(seen).toEqual([
      ["act", secret],
      ["act", secret],
      ["act", secret],
      ["act", undefined],
    ]);
  });

  it("is not harmed by a hook that throws", () => {
    const onError = () => {
      throw new Error("hook");
    };
    expect(
      run(() => {
        throw new Error("tool");
      }, onError),
    ).toEqual(failed);
  });

  it.each([
    ["a bigint", () => ({ id: 1n })],
    [
      "a cycle",
      () => {
        const cycle: Record<string, unknown> = {};
        cycle["self"] = cycle;
        return cycle;
      },
    ],
    ["a date", () => ({ at: new Date(0) })],
    ["a function", () => () => 1],
    ["NaN", () => Number.NaN],
    ["an integer that lost digits", () => 2 ** 60],
    [
      "a getter",
      () => ({
        get secret() {
          throw new Error("password=hunter2");
        },
      }),
    ],
    [
      "a throwing Proxy",
      () =>
        new Proxy(
          {},
          {
            ownKeys() {
              throw new Error("password=hunter2");
            },
          },
        ),
    ],
  ])("makes %s result_not_json and says that the tool ran", (_name, make) => {
    const seen: unknown[] = [];
    const result = run(make, (_tool, error) => seen.push(error));
    expect(result).toMatchObject({ ok: false, error: { code: "result_not_json", retryable: false } });
    expect(JSON.stringify(result)).toContain("the tool ran");
    expect(JSON.stringify(result)).not.toContain("hunter2");
    expect(seen).toHaveLength(1);
  });

  it("survives a value whose then throws", () => {
    const trap = Object.defineProperty({}, THEN, {
      get() {
        throw new Error("password=hunter2");
      },
    });
    expect(run(() => trap)).toEqual(failed);
  });

  it("takes undefined as null, leaves undefined properties out and repairs cut-off text", () => {
    expect(run(() => undefined)).toEqual({ ok: true, value: null });
    expect(run(() => ({ a: undefined, b: "x\ud83d" }))).toEqual({ ok: true, value: { b: "x\ufffd" } });
  });

  it("passes an expected failure on, without details that are not JSON", async () => {
    const failure = { code: "ORDER_NOT_FOUND", message: "no order A1", retryable: false };
    expect(run(() => toolFailure("ORDER_NOT_FOUND", "no order A1"))).toEqual({ ok: false, error: failure });
    expect(
      await run(async () => toolFailure("BUSY", "try later", { retryable: true, details: { waitMs: 5 } })),
    ).toEqual({
      ok: false,
      error: { code: "BUSY", message: "try later", retryable: true, details: { waitMs: 5 } },
    });
    expect(run(() => toolFailure("X", "y", { details: 1n as never }))).toEqual({
      ok: false,
      error: { code: "X", message: "y", retryable: false },
    });
    expect(run(() => toolFailure(undefined as never, "y"))).toEqual(failed);
  });

  it("name-03: knows tools by their exact name only and shows what is hidden in another", () => {
    const executor = createToolExecutor([tool(() => null)]);
    for (const name of ["act\u200b", "Act", "act ", "ａct", "__proto__", "constructor"]) {
      const unknown = { ok: false, error: { code: "unknown_tool", details: { known: ["act"] } } };
      expect(executor.check(name, {})).toMatchObject(unknown);
      expect(executor.execute(name, {}, context)).toMatchObject(unknown);
      expect(executor.lookup(name, {}, context)).toMatchObject(unknown);
    }
    expect(executor.check("act\u200b", {})).toMatchObject({ error: { message: 'unknown tool "act\\u{200b}"' } });
  });

  it("lists contracts that cannot be changed", () => {
    const [contract] = createToolExecutor([tool(() => null)]).listTools();
    expect(contract?.name).toBe("act");
    expect(Object.isFrozen(contract)).toBe(true);
  });
});

describe("lookup", () => {
  function lookup(find: AnyTool["lookup"]) {
    const queryable = tool(() => null, { recovery: "queryable", ...(find === undefined ? {} : { lookup: find }) });
    return createToolExecutor([queryable]).lookup("act", {}, context);
  }

  it("tells a result, a failure and nothing found apart", async () => {
    expect(lookup(() => ({ id: 1 }))).toEqual({ ok: true, value: { id: 1 } });
    expect(lookup(() => null)).toEqual({ ok: true, value: null });
    expect(lookup(() => toolFailure("REFUSED", "no"))).toMatchObject({ ok: false, error: { code: "REFUSED" } });
    expect(lookup(() => undefined)).toBeUndefined();
    expect(await lookup(async () => undefined)).toBeUndefined();
    expect(createToolExecutor([tool(() => null)]).lookup("act", {}, context)).toBeUndefined();
  });

  it("never takes a lookup that failed for an outcome of the call", async () => {
    const unknown = { ok: false, error: { code: LOOKUP_FAILED, retryable: true } };
    expect(
      lookup(() => {
        throw new Error("password=hunter2");
      }),
    ).toMatchObject(unknown);
    expect(await lookup(() => Promise.reject(new Error("password=hunter2")))).toMatchObject(unknown);
  });
});
