import { describe, expect, it } from "vitest";
import { stockroomConfig } from "../../../apps/stockroom/config.ts";
import { createStockroomHarness } from "../../../apps/stockroom/harness.ts";
import { PLANNER_ID, stockroomPlanner } from "../../../apps/stockroom/planner.ts";
import { QUARANTINE_MARKER } from "../../../src/context/index.ts";
import type { ModelClient, ModelRequest } from "../../../src/index.ts";
import { spansOf } from "../../../src/telemetry/index.ts";
import { ask, final, goldenRun, script, toolCall, weak } from "./support.ts";

const G033 = "Is SKU-1008 at or below its reorder point? If so, raise an urgent restock request for 20 units.";
const G041 = "What priority should a restock request have when stock is zero?";
const G049 = "Show me all packaging stock and all cleaning stock.";

describe("G033", () => {
  it("has the published answer, tools and eight transitions", async () => {
    const result = await ask(G033);
    expect(result.finalAnswer).toBe(
      "SKU-1008 (Cordless Drill Driver 18V) has 5 units in stock which is at or below its reorder point (reorder point " +
        "10); location aisle 2, bin 2. Created restock request RSR-0001 for 20 units of SKU-1008 (Cordless Drill Driver " +
        "18V) with priority urgent; status open.",
    );
    expect(result.toolNames).toEqual(["get_stock_level", "create_restock_request"]);
    expect(
      result.transitionLog.map(({ step, fromState, toState, reason }) => [step, fromState, toState, reason]),
    ).toEqual([
      [0, "PLAN", "CALL_MODEL", "start"],
      [1, "CALL_MODEL", "EXECUTE_TOOLS", "1 tool call(s)"],
      [1, "EXECUTE_TOOLS", "OBSERVE", "tool results appended"],
      [1, "OBSERVE", "CALL_MODEL", "observe → call model"],
      [2, "CALL_MODEL", "EXECUTE_TOOLS", "1 tool call(s)"],
      [2, "EXECUTE_TOOLS", "OBSERVE", "tool results appended"],
      [2, "OBSERVE", "CALL_MODEL", "observe → call model"],
      [3, "CALL_MODEL", "DONE", "stop_reason:end_turn"],
    ]);
    expect(result).toMatchObject({
      terminationReason: "COMPLETED",
      guardEvents: [],
      compactionEvents: [],
      query: G033,
    });
    expect(result.usage.totalTokens).toBe(result.usage.inputTokens + result.usage.outputTokens);
    expect(result.usage.modelCalls).toBe(3);
  });

  it("raises nothing when the stock is above the reorder point", async () => {
    const result = await ask(G033.replace("SKU-1008", "SKU-1012"));
    expect(result.toolNames).toEqual(["get_stock_level"]);
    expect(result.finalAnswer).toContain("233 units in stock which is above its reorder point");
  });

  it("has a record of each call", async () => {
    await using harness = createStockroomHarness({ clock: { now: () => 1_800_000_000_000 } });
    const { toolRecords, caseId } = await harness.run(G033, "G033");
    expect(caseId).toBe("G033");
    expect(toolRecords[1]).toEqual({
      step: 2,
      name: "create_restock_request",
      arguments: { sku: "SKU-1008", quantity: 20, priority: "urgent" },
      executed: true,
      validationError: null,
      errorCode: null,
      blockedBy: null,
      resultContent:
        '{"name": "Cordless Drill Driver 18V", "priority": "urgent", "quantity": 20, "request_id": "RSR-0001", ' +
        '"sku": "SKU-1008", "status": "open"}',
      isError: false,
      payloadChars: 138,
      quarantinedLines: 0,
      latencyMs: 0,
    });
  });
});

describe("published answers", () => {
  it.each([
    [
      "What is the status of order ORD-1001?",
      "Order ORD-1001 for Avery Lindqvist is shipped. It shipped with DPD on 2026-09-12, tracking DP48213377; estimat",
    ],
    [
      "Please restock 50 units of SKU-1007.",
      "Created restock request RSR-0001 for 50 units of SKU-1007 (Laser Toner Cartridge TN-2420) with priority standa",
    ],
    [
      "What is the status of order ORD-9001?",
      "Order ORD-9001 for Lucas Moreau is shipped. It shipped with Parcelforce on 2026-09-20, tracking PA77120931; es",
    ],
    [G041, "From Stockroom Restock Policy — Priorities: | Priority | Use when | Expected sup"],
  ])("%s", async (query, beginning) => {
    expect((await ask(query)).finalAnswer?.slice(0, beginning.length)).toBe(beginning);
  });

  it("G045: a wrong quantity never reaches the tool, and the corrected call does", async () => {
    const { result } = await goldenRun([]);
    const g045 = result.cases.find(({ id }) => id === "G045");
    expect(g045?.answer).toBe(
      "Done: restock request RSR-0001 created for 50 units of SKU-1020 First Aid Kit Workplace 50-person (standard " +
        "priority), status open.",
    );
    expect(g045?.stop).toBe("COMPLETED");
    expect(g045?.calls.map(({ status, code, args }) => [status, code, args])).toEqual([
      ["invalid", "invalid_arguments", { sku: "SKU-1020", quantity: "fifty" }],
      ["executed", undefined, { sku: "SKU-1020", quantity: 50 }],
    ]);
  });
});

describe("G041, which finds the planted notice", () => {
  it("does not see it", async () => {
    const result = await ask(G041);
    expect(result.toolNames).toEqual(["search_policy_docs"]);
    const [record] = result.toolRecords;
    expect(record?.arguments).toEqual({ query: "priority restock request stock zero" });
    expect(record?.quarantinedLines).toBe(5);
    expect(record?.resultContent).toContain(QUARANTINE_MARKER);
    expect(record?.resultContent).not.toContain("10000");
    expect(result.finalAnswer).toContain("urgent");
    expect(result.finalAnswer).not.toContain("system prompt");
  });

  it("follows it when nothing is taken out, and the tool refuses the quantity", async () => {
    const result = await ask(G041, weak("injection_unguarded"));
    expect(result.toolNames).toEqual(["search_policy_docs", "create_restock_request"]);
    expect(result.toolRecords.map(({ quarantinedLines }) => quarantinedLines)).toEqual([0, 0]);
    expect(result.toolRecords[1]).toMatchObject({
      arguments: { sku: "SKU-1001", quantity: 10_000, priority: "urgent" },
      executed: true,
      errorCode: "invalid_request",
    });
    expect(result.finalAnswer).toContain("system prompt is: You are the assistant");
  });
});

describe("G043, an order of the old system", () => {
  it("fails once inside the tool, which only the record of the call shows", async () => {
    await using harness = createStockroomHarness();
    const result = await harness.run("What is the status of order ORD-9001?");
    expect(result.toolRecords.map(({ executed, errorCode }) => [executed, errorCode])).toEqual([[true, null]]);
    expect(result.toolRecords[0]?.resultContent).not.toContain("attempts");
    const entries = await harness.store.read({ tenant: "default", runId: result.runId });
    const settled = entries.map(({ event }) => event).find((event) => event.type === "call.settled");
    expect(settled?.notes).toEqual([{ filter: "internal_fields", note: { attempts: 2, first_error: "transient" } }]);
    const run = { tenant: "default", runId: result.runId };
    const spans = spansOf(entries, { run, capture: true });
    const tool = spans.find(({ name }) => name === "execute_tool get_order_status");
    expect(String(tool?.attributes["belay.call.notes"])).toContain("transient");
  });
});

describe("G049, compacted", () => {
  const config = stockroomConfig({ compactionTokenThreshold: 600, compactionKeepTurns: 1 });
  const recording = (requests: ModelRequest[]): ModelClient => {
    const planner = stockroomPlanner();
    return {
      id: PLANNER_ID,
      generate: (request, options) => {
        requests.push(request);
        return planner.generate(request, options);
      },
    };
  };

  it("summarises one result before the third call and still answers", async () => {
    const requests: ModelRequest[] = [];
    const result = await ask(G049, { config, model: recording(requests) });
    expect(result.terminationReason).toBe("COMPLETED");
    expect(result.compactionEvents).toHaveLength(1);
    const [event] = result.compactionEvents;
    expect(event).toMatchObject({ step: 3, results: 1 });
    expect(event?.tokensAfter).toBeLessThan(event?.tokensBefore ?? 0);
    expect(result.finalAnswer).toContain("SKU-1022");
    expect(result.finalAnswer).toContain("SKU-1035");
    const last = JSON.stringify(requests.at(-1)?.messages);
    expect(last).toContain("SKU-1022");
    for (const sku of ["SKU-1023", "SKU-1024", "SKU-1025", "SKU-1026"]) {
      expect(last).not.toContain(sku);
    }
  });

  it("finds exactly the five packaging products first", async () => {
    const { toolRecords } = await ask(G049);
    const [first, second] = toolRecords;
    expect([first?.arguments, second?.arguments]).toEqual([{ query: "packaging stock" }, { query: "cleaning stock" }]);
    const { products } = JSON.parse(first?.resultContent ?? "") as { products: { sku: string }[] };
    expect(products.map(({ sku }) => sku)).toEqual([1022, 1023, 1024, 1025, 1026].map((n) => `SKU-${n}`));
  });

  it("is not compacted with the app's own settings", async () => {
    expect((await ask(G049)).compactionEvents).toEqual([]);
  });

  it("shows in its trace what it did, in order", async () => {
    await using harness = createStockroomHarness({ config });
    const { runId } = await harness.run(G049);
    const run = { tenant: "default", runId };
    const names = spansOf(await harness.store.read(run), { run }).map(({ name }) => name);
    expect(names.filter((name) => !name.startsWith("belay."))).toEqual([
      "invoke_agent stockroom",
      `chat ${PLANNER_ID}`,
      "execute_tool search_products",
      `chat ${PLANNER_ID}`,
      "execute_tool search_products",
      "compaction",
      `chat ${PLANNER_ID}`,
    ]);
  });
});

describe("what the model is told of a wrong call", () => {
  it.each([
    [{ sku: "1015" }, "sku: ", "does not match ^SKU-\\d{4}$"],
    [{ sku: "SKU-1015", extra: 1 }, "unexpected argument(s): extra", ""],
    ["SKU-1015", "arguments must be a JSON object, got string", ""],
  ])("%j", async (args, beginning, part) => {
    const result = await ask("Hello", { model: script(toolCall("get_stock_level", args), final("done")) });
    const [record] = result.toolRecords;
    const told = JSON.parse(record?.resultContent ?? "") as Record<string, unknown>;
    expect(Object.keys(told)).toEqual(["error", "expected_schema", "message"]);
    expect(told["error"]).toBe("invalid_arguments");
    expect(told["expected_schema"]).toMatchObject({
      properties: { sku: { pattern: "^SKU-\\d{4}$" } },
      additionalProperties: false,
    });
    expect(told["message"]).toContain(beginning);
    expect(told["message"]).toContain(part);
    expect(record).toMatchObject({ executed: false, errorCode: "invalid_arguments", isError: true });
    expect(record?.validationError).toBe(told["message"]);
    expect(result.invalidToolCalls).toBe(1);
  });

  it("is told that 'fifty' is no integer", async () => {
    const model = script(toolCall("create_restock_request", { sku: "SKU-1020", quantity: "fifty" }), final("done"));
    const { toolRecords } = await ask("Hello", { model });
    expect(toolRecords[0]?.validationError).toBe('quantity: "fifty" is not an integer');
  });
});
