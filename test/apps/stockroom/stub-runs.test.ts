import { describe, expect, it } from "vitest";
import { stockroomConfig } from "../../../apps/stockroom/config.ts";
import type { ModelClient, ToolExecutor } from "../../../src/index.ts";
import { ask, stubModel, toolCall, weak } from "./support.ts";

const stock = (number: number) => toolCall("get_stock_level", { sku: `SKU-${1000 + number}` });
/** Asks for another SKU each time, for ever. */
const wandering = (): ModelClient => stubModel((call) => stock(call));
const QUERY = "How is our stock?";

describe("a model that never stops", () => {
  it("ends at the step limit: four calls, four executed", async () => {
    const alternating = stubModel((call) => stock(1 + (call % 2)));
    const config = stockroomConfig({ maxSteps: 4, repeatCallWindow: 99 });
    const result = await ask(QUERY, { config, model: alternating });
    expect(result.terminationReason).toBe("MAX_STEPS");
    expect(result.guardEvents).toEqual([
      { step: 4, guard: "max_steps", reason: "MAX_STEPS", detail: "reached the per-run step limit of 4 model calls" },
    ]);
    expect([result.usage.modelCalls, result.executedToolCalls]).toEqual([4, 4]);
    expect(result.transitionLog.at(-1)).toMatchObject({ toState: "FAILED", reason: "guard:max_steps" });
    expect(result.finalAnswer).toBeNull();
  });

  it("ends with the third identical call in a row, which does not execute", async () => {
    const config = stockroomConfig({ repeatCallWindow: 3, maxSteps: 20 });
    const result = await ask(QUERY, { config, model: stubModel(() => stock(1)) });
    expect(result.guardEvents).toEqual([
      {
        step: 3,
        guard: "repeated_call",
        reason: "REPEATED_CALL",
        detail: "get_stock_level was requested 3 times in a row with identical arguments",
      },
    ]);
    expect([result.usage.modelCalls, result.executedToolCalls]).toEqual([3, 2]);
    expect(result.toolNames).toEqual(["get_stock_level", "get_stock_level"]);
  });

  it("ends before the call that might exceed the token budget: three calls, three executed, 330 used", async () => {
    const config = stockroomConfig({ tokenBudget: 1500, maxTokens: 100, maxSteps: 50, repeatCallWindow: 99 });
    const result = await ask(QUERY, { config, model: wandering() });
    const [event] = result.guardEvents;
    expect(event).toMatchObject({ step: 3, guard: "token_budget", reason: "TOKEN_BUDGET" });
    const [, estimate] =
      /^next model call \(~(\d+) input tokens \+ up to 100 output\) would exceed the budget of 1500 \(used 330\)$/.exec(
        event?.detail ?? "",
      ) ?? [];
    expect(Number(estimate)).toBeGreaterThan(1070);
    expect([result.usage.modelCalls, result.executedToolCalls, result.usage.totalTokens]).toEqual([3, 3, 330]);
  });

  it("ends when its time is up: ticks of 0, 0, 0.1 and 100 seconds, one call, one executed", async () => {
    let seconds = 0;
    const clock = { now: () => seconds * 1000 };
    const model = stubModel((call) => {
      seconds = 0.1;
      return stock(call);
    });
    const executor = (inner: ToolExecutor): ToolExecutor => ({
      ...inner,
      execute: (...call) => {
        seconds = 100;
        return inner.execute(...call);
      },
    });
    const config = stockroomConfig({ wallClockTimeoutS: 5, maxSteps: 50, repeatCallWindow: 99 });
    const result = await ask(QUERY, { config, model, clock, executor });
    expect(result.guardEvents).toEqual([
      { step: 1, guard: "wall_clock", reason: "TIMEOUT", detail: "run exceeded the wall-clock limit of 5s (100.0s)" },
    ]);
    expect([result.usage.modelCalls, result.executedToolCalls]).toEqual([1, 1]);
  });
});

describe("what the token budget does not promise", () => {
  it("bounds estimates and not the bill: a provider that counts more is only seen afterwards", async () => {
    const config = stockroomConfig({ tokenBudget: 6000, maxTokens: 100 });
    const model = stubModel((call) => stock(call), { inputTokens: 7000, outputTokens: 10 });
    const result = await ask(QUERY, { config, model });
    expect(result.terminationReason).toBe("TOKEN_BUDGET");
    expect(result.usage).toMatchObject({ totalTokens: 7010, modelCalls: 1 });
    expect(result.guardEvents[0]?.detail).toContain("budget of 6000 (used 7010)");
  });
});

describe("guards of whole runs", () => {
  it("G043 under naive_retry: eight executed calls, then the step limit", async () => {
    const result = await ask("What is the status of order ORD-9001?", weak("naive_retry"));
    expect(result.guardEvents).toEqual([
      { step: 8, guard: "max_steps", reason: "MAX_STEPS", detail: "reached the per-run step limit of 8 model calls" },
    ]);
    expect(result.executedToolCalls).toBe(8);
    expect(new Set(result.toolRecords.map(({ errorCode }) => errorCode))).toEqual(new Set(["transient"]));
  });

  it("G049 under oversized_payload: both searches executed, then the token budget", async () => {
    const query = "Show me all packaging stock and all cleaning stock.";
    const result = await ask(query, weak("oversized_payload"));
    const { inputTokens, totalTokens } = result.usage;
    expect(result.toolNames).toEqual(["search_products", "search_products"]);
    expect(result.guardEvents[0]?.detail).toMatch(
      new RegExp(
        `^next model call \\(~\\d{5} input tokens \\+ up to 1024 output\\) would exceed the budget of 20000 \\(used ${totalTokens}\\)$`,
      ),
    );
    expect(totalTokens - inputTokens).toBeLessThan(40);
  });

  it("stops a model that calls tools wrongly again and again", async () => {
    const model = stubModel((call) => toolCall("get_stock_level", { sku: String(1000 + call) }));
    const result = await ask(QUERY, { model });
    expect(result.terminationReason).toBe("INVALID_TOOL_CALLS");
    expect([result.executedToolCalls, result.invalidToolCalls]).toEqual([0, 6]);
  });

  it("names a model that fails", async () => {
    const model: ModelClient = { id: "down", generate: () => Promise.reject(new Error("secret")) };
    const result = await ask(QUERY, { model });
    expect(result.terminationReason).toBe("MODEL_ERROR");
    expect(result.transitionLog.at(-1)?.reason).toBe("model_error");
    expect(JSON.stringify(result)).not.toContain("secret");
  });
});
