import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll, describe, expect, it, onTestFinished } from "vitest";
import { AMBIGUOUS_DESCRIPTION } from "../../../apps/stockroom/tools/descriptions.ts";
import { stockroomTools } from "../../../apps/stockroom/tools/index.ts";
import type { Weakness } from "../../../apps/stockroom/weaknesses.ts";
import { openStockroomWorld, type StockroomWorld } from "../../../apps/stockroom/world/stockroom-world.ts";
import { createToolExecutor, type JsonValue, type ToolContext, type ToolExecutor } from "../../../src/index.ts";
import { toolContext } from "./support.ts";

interface Bench {
  readonly world: StockroomWorld;
  readonly executor: ToolExecutor;
  run(tool: string, args: JsonValue, change?: Partial<ToolContext>): Promise<JsonValue>;
}

const worlds: StockroomWorld[] = [];
afterAll(() => {
  for (const world of worlds) {
    world.close();
  }
});

function bench(...weaknesses: readonly Weakness[]): Bench {
  const world = openStockroomWorld(":memory:");
  worlds.push(world);
  const executor = createToolExecutor(stockroomTools(world, { weaknesses }));
  return {
    world,
    executor,
    run: async (tool, args, change) => {
      const result = await executor.execute(tool, args, toolContext(change));
      return result.ok ? result.value : { code: result.error.code, message: result.error.message };
    },
  };
}

describe("the five tools", () => {
  const contracts = bench().executor.listTools();

  it("stand in the published order, with descriptions that begin as published", () => {
    expect(contracts.map(({ name, description }) => [name, description.slice(0, 69)])).toEqual([
      ["search_products", "Search the product catalogue by product name, category or keyword and"],
      ["get_stock_level", "Get the stock level (units in stock), reorder point and warehouse loc"],
      ["get_order_status", "Get the status, items, carrier, tracking number and delivery dates of"],
      ["create_restock_request", "Create a restock request (purchase order to the supplier) for a SKU. "],
      ["search_policy_docs", "Search the Stockroom policy documents (returns, shipping, restock rul"],
    ]);
  });

  it("declare no argument that they do not take", () => {
    const schemas = contracts.map(({ inputSchema }) => inputSchema as { additionalProperties?: boolean });
    expect(schemas.every(({ additionalProperties }) => additionalProperties === false)).toBe(true);
    expect(contracts[3]?.inputSchema).toMatchObject({
      required: ["sku", "quantity"],
      properties: { quantity: { type: "integer" }, priority: { enum: ["standard", "urgent"] } },
    });
    expect(contracts[0]?.inputSchema).toMatchObject({ properties: { max_results: { minimum: 1, maximum: 20 } } });
    expect(contracts[2]?.inputSchema).toMatchObject({ properties: { order_id: { pattern: "^ORD-\\d{4}$" } } });
  });

  it("change nothing but by a restock request", () => {
    expect(contracts.map(({ level, recovery }) => `${level} ${recovery}`)).toEqual([
      "read read",
      "read read",
      "read read",
      "write keyed",
      "read read",
    ]);
  });

  it("say what is not there", async () => {
    const { run } = bench();
    expect(await run("get_stock_level", { sku: "SKU-9999" })).toMatchObject({ code: "invalid_request" });
    expect(await run("get_order_status", { order_id: "ORD-1999" })).toMatchObject({ code: "invalid_request" });
    expect(await run("search_products", { query: "elephants" })).toEqual({
      query: "elephants",
      matches: 0,
      products: [],
    });
    expect(await run("search_policy_docs", { query: "xyzzy" })).toEqual({ query: "xyzzy", results: [] });
  });

  it("find five products unless asked for another number, and three policy sections", async () => {
    const { run } = bench();
    const count = async (args: JsonValue) =>
      ((await run("search_products", args)) as { products: unknown[] }).products.length;
    expect([await count({ query: "stock" }), await count({ query: "stock", max_results: 20 })]).toEqual([5, 20]);
    const { results } = (await run("search_policy_docs", { query: "days" })) as { results: unknown[] };
    expect(results).toHaveLength(3);
  });
});

describe("restock requests", () => {
  const restock = ({ run }: Bench, quantity: number, sku: string, key: string) =>
    run("create_restock_request", { sku, quantity }, { idempotencyKey: key, callId: key });

  it.each([
    [9, { code: "invalid_request" }],
    [10, { request_id: "RSR-0001", status: "open", priority: "standard" }],
    [500, { status: "open" }],
    [501, { status: "pending_approval" }],
    [5000, { status: "pending_approval" }],
    [5001, { code: "invalid_request" }],
    [10_000, { code: "invalid_request" }],
    [-1, { code: "invalid_request" }],
  ])("of %i units", async (quantity, expected) => {
    expect(await restock(bench(), quantity, "SKU-1015", "k")).toMatchObject(expected);
  });

  it("are numbered in each run from the first", async () => {
    const one = bench();
    expect(await restock(one, 20, "SKU-1015", "a")).toMatchObject({ request_id: "RSR-0001" });
    expect(await restock(one, 20, "SKU-1016", "b")).toMatchObject({ request_id: "RSR-0002" });
    const other = await one.run("create_restock_request", { sku: "SKU-1015", quantity: 20 }, { runId: "run_2" });
    expect(other).toMatchObject({ request_id: "RSR-0001" });
    one.world.reset({ tenant: "default", runId: "run_1" });
    expect(await restock(one, 20, "SKU-1016", "c")).toMatchObject({ request_id: "RSR-0001" });
  });

  it("happen once for the same call, and are found again after a crash", async () => {
    const one = bench();
    const first = await restock(one, 20, "SKU-1015", "a");
    expect(await restock(one, 20, "SKU-1015", "a")).toEqual(first);
    const args = { sku: "SKU-1015", quantity: 20 };
    expect(await one.executor.lookup("create_restock_request", args, toolContext({ idempotencyKey: "a" }))).toEqual({
      ok: true,
      value: first,
    });
    expect(
      await one.executor.lookup("create_restock_request", args, toolContext({ idempotencyKey: "b" })),
    ).toBeUndefined();
    expect(one.world.snapshot().requests).toHaveLength(1);
  });

  it("are one for each SKU, and a refused one takes no number", async () => {
    const one = bench();
    await restock(one, 20, "SKU-1015", "a");
    expect(await restock(one, 30, "SKU-1015", "b")).toMatchObject({ code: "invalid_request" });
    expect(await restock(one, 30, "SKU-9999", "c")).toMatchObject({ code: "invalid_request" });
    expect(await restock(one, 30, "SKU-1016", "d")).toMatchObject({ request_id: "RSR-0002" });
  });

  it("outlive the process that made them", async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-stockroom-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "stockroom.db");
    const first = openStockroomWorld(file);
    first.record({ tenant: "default", runId: "run_1" }, "a", {
      sku: "SKU-1015",
      quantity: 20,
      priority: "urgent",
      status: "open",
    });
    first.close();
    const second = openStockroomWorld(file);
    onTestFinished(() => second.close());
    expect(second.requestByKey({ tenant: "default", runId: "run_1" }, "a")?.requestId).toBe("RSR-0001");
    expect(second.snapshot().requests).toHaveLength(1);
  });

  it("refuse a file that is no stockroom", () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-stockroom-"));
    onTestFinished(() => rmSync(folder, { recursive: true }));
    const file = join(folder, "other.db");
    writeFileSync(file, "hello, I am no database and long enough to be read as one".repeat(40));
    expect(() => openStockroomWorld(file)).toThrow(expect.objectContaining({ code: "BELAY_WORLD_INVALID" }));
    expect(() => openStockroomWorld(join(folder, "no", "such.db"))).toThrow(
      expect.objectContaining({ code: "BELAY_WORLD_INVALID" }),
    );
  });
});

describe("orders of the old system", () => {
  it("fail their first look-up in a run inside the tool, once for each order and run", async () => {
    const { run } = bench();
    const attempts = async (id: string, runId: string) =>
      ((await run("get_order_status", { order_id: id }, { runId })) as { _internal?: { attempts: number } })._internal
        ?.attempts;
    expect(await attempts("ORD-9001", "run_1")).toBe(2);
    expect(await attempts("ORD-9001", "run_1")).toBeUndefined();
    expect(await attempts("ORD-9002", "run_1")).toBe(2);
    expect(await attempts("ORD-9001", "run_2")).toBe(2);
    expect(await attempts("ORD-1001", "run_1")).toBeUndefined();
  });

  it("fail every time under naive_retry", async () => {
    const { run } = bench("naive_retry");
    for (const _ of [1, 2, 3]) {
      expect(await run("get_order_status", { order_id: "ORD-9001" })).toMatchObject({ code: "transient" });
    }
    expect(await run("get_order_status", { order_id: "ORD-1001" })).toMatchObject({ customer: "Avery Lindqvist" });
  });
});

describe("weaknesses of the tools", () => {
  it("ambiguous_tool_desc changes one description", () => {
    const [plain, weak] = [bench().executor.listTools(), bench("ambiguous_tool_desc").executor.listTools()];
    expect(weak[0]?.description).toBe(AMBIGUOUS_DESCRIPTION);
    expect(AMBIGUOUS_DESCRIPTION).toBe(
      "Look up products, inventory, stock level, units in stock for a SKU, orders, order status and tracking by order " +
        "id, and anything else about the warehouse.",
    );
    expect(weak.slice(1)).toEqual(plain.slice(1));
  });

  it("oversized_payload takes the limit away and gives everything", async () => {
    const { run, executor } = bench("oversized_payload");
    const value = await run("search_products", { query: "stock" });
    expect(JSON.stringify(value).length).toBeGreaterThan(45_000);
    const checked = await executor.check("search_products", { query: "stock", max_results: 5 });
    expect(checked.ok).toBe(false);
  });

  it("are none of the core's business: nothing in src knows one", async () => {
    const { globSync, readFileSync } = await import("node:fs");
    const project = join(import.meta.dirname, "../../..");
    const files = globSync("src/**/*.ts", { cwd: project });
    expect(files.length).toBeGreaterThan(50);
    expect(
      files.filter((file) =>
        /oversized_payload|ambiguous_tool_desc|injection_unguarded/.test(readFileSync(join(project, file), "utf8")),
      ),
    ).toEqual([]);
  });
});
