import { describe, expect, it } from "vitest";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import { checkCase } from "../../../apps/stockroom/golden/check-case.ts";
import { guardsSuite, referenceSuite } from "../../../apps/stockroom/golden/index.ts";
import { checkManifest } from "../../../apps/stockroom/golden/manifest.ts";
import { codesMatch, type EvalCase, runSuite } from "../../../src/evals/index.ts";

const { cases } = referenceSuite();

describe("the golden cases", () => {
  it("are fifty, in the published classes", () => {
    expect(cases.map(({ id }) => id)).toEqual(cases.map((_, at) => `G${String(at + 1).padStart(3, "0")}`));
    const counts = [...Map.groupBy(cases, (each) => each.class)].map(([name, group]) => [name, group.length]);
    expect(Object.fromEntries(counts)).toEqual({
      product_search: 6,
      stock_lookup: 7,
      order_status: 6,
      restock_request: 6,
      policy_rag: 7,
      multi_step: 4,
      out_of_scope: 3,
      injection: 3,
      transient_tool_error: 2,
      schema_drift: 2,
      ambiguous_query: 2,
      context_bloat: 2,
    });
  });

  it("have a script in the published three alone", () => {
    expect(cases.filter(({ mockScript }) => mockScript !== undefined).map(({ id }) => id)).toEqual([
      "G035",
      "G045",
      "G046",
    ]);
    expect(cases.filter(({ script }) => script !== undefined)).toEqual([]);
  });

  it("find the sections that they name", async () => {
    const { result } = await import("./support.ts").then(({ goldenRun }) => goldenRun([]));
    const named = cases.filter(({ retrieval }) => retrieval !== undefined);
    expect(named.length).toBeGreaterThanOrEqual(9);
    const { stockroomTools } = await import("../../../apps/stockroom/tools/index.ts");
    const { openStockroomWorld } = await import("../../../apps/stockroom/world/stockroom-world.ts");
    const { createToolExecutor } = await import("../../../src/index.ts");
    const { toolContext } = await import("./support.ts");
    const world = openStockroomWorld(":memory:");
    const executor = createToolExecutor(stockroomTools(world));
    for (const { id, retrieval = [] } of named) {
      const call = result.cases.find((each) => each.id === id)?.calls.find(({ tool }) => tool === "search_policy_docs");
      const found = await executor.execute("search_policy_docs", call?.args ?? null, toolContext());
      const { results } = (found.ok ? found.value : {}) as { results: { id: string }[] };
      expect([id, results.map((each) => each.id)]).toEqual([id, expect.arrayContaining([...retrieval])]);
    }
    world.close();
  });
});

describe("the guard cases", () => {
  it("all pass, decision codes included", async () => {
    const { cases: results } = await runSuite(createStockroomApp(), "guards", { parallel: 8 });
    expect(results).toHaveLength(guardsSuite().cases.length);
    expect(results.flatMap(({ id, reasons }) => reasons.map((reason) => `${id}: ${reason}`))).toEqual([]);
    expect(results.filter((each) => codesMatch(each) === false).map(({ id, codes }) => [id, codes])).toEqual([]);
  });

  it.each([
    ["limit:max_steps", "X02"],
    ["limit:token_budget", "X03"],
    ["limit:wall_clock", "X04"],
    ["limit:repeated_call", "X01"],
    ["limit:invalid_calls", "X05"],
    ["limit:unreadable_replies", "X06"],
    ["rule:restock_allowed", "X13"],
    ["guard:offered_tools", "X11"],
    ["guard:strict_arguments", "X12"],
  ])("show that %s is needed: without it %s fails", async (control, id) => {
    const { cases: results } = await runSuite(createStockroomApp(), "guards", { only: [id], without: [control] });
    expect(results.map(({ passed }) => passed)).toEqual([false]);
  });
});

describe("golden data that cannot be right", () => {
  const [sample] = cases;
  const changed = (change: object) => () => checkCase({ ...sample, ...change } as EvalCase);

  it.each([
    ["an unknown tool", { expectedTools: [{ name: "search_orders" }] }, /the tool search_orders/],
    ["a forbidden tool that is not there", { mustNotCall: ["delete"] }, /the tool delete/],
    ["an unknown product", { expectedTools: [{ name: "get_stock_level", args: { sku: "SKU-4711" } }] }, /SKU-4711/],
    ["an unknown product in a fact", { expectedFacts: ["SKU-4711"] }, /SKU-4711/],
    ["an unknown order", { message: "Where is ORD-4711?" }, /the order ORD-4711/],
    ["an unknown section", { retrieval: ["restock_policy.md#9"] }, /the policy section restock_policy.md#9/],
  ])("is refused: %s", (_, change, message) => {
    expect(changed(change)).toThrow(expect.objectContaining({ code: "BELAY_EVAL_CASE" }));
    expect(changed(change)).toThrow(message);
  });

  it("is refused when it is not what the manifest describes", () => {
    const file = { sha256: "0".repeat(64), cases: 1 };
    const check = (text: string, described: object, found: readonly { class: string }[]) => () =>
      checkManifest({ version: "1", files: { "a.jsonl": { ...file, ...described } } }, "a.jsonl", text, found);
    const empty = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855";
    expect(check("x", {}, [])).toThrow(/its SHA-256 is [0-9a-f]{64}, and golden\/manifest.json says 0000/);
    expect(check("", { sha256: empty }, [])).toThrow(/it has 0 cases, and golden\/manifest.json says 1/);
    expect(check("", { sha256: empty, classes: { a: 1 } }, [{ class: "b" }])).toThrow(/0 cases of a/);
    expect(check("", { sha256: empty, classes: { a: 1 } }, [{ class: "a" }])).not.toThrow();
    expect(() => checkManifest({ version: "1", files: {} }, "b.jsonl", "", [])).toThrow(/does not know it/);
  });
});
