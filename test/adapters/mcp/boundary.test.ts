import { describe, expect, it } from "vitest";
import {
  connectMcp,
  createMcpToolServer,
  listenMcp,
  type McpExecutor,
  type McpProtocol,
  resetSessionTool,
} from "../../../src/adapters/mcp/index.ts";
import { createToolExecutor, type JsonValue } from "../../../src/index.ts";
import { createShelf, type Shelf, toolContext } from "./fixture.ts";

interface Boundary extends AsyncDisposable {
  readonly shelf: Shelf;
  readonly executor: McpExecutor;
}

type Way = "memory" | "http";

async function cross(way: Way, protocol: McpProtocol): Promise<Boundary> {
  const shelf = createShelf();
  const server = createMcpToolServer({
    name: "shelf",
    version: "1",
    tools: shelf.tools,
    hidden: [resetSessionTool(shelf.reset)],
  });
  const listener = way === "http" ? await listenMcp(server, { token: "t" }) : undefined;
  const executor = await connectMcp({
    transport: listener === undefined ? { kind: "memory", server } : { kind: "http", url: listener.url, token: "t" },
    protocol,
    local: createToolExecutor(shelf.tools),
  });
  return {
    shelf,
    executor,
    [Symbol.asyncDispose]: async () => {
      await executor.close();
      await (listener ?? server).close();
    },
  };
}

const WAYS = [
  { way: "memory", protocol: "legacy" },
  { way: "memory", protocol: "modern" },
  { way: "http", protocol: "legacy" },
  { way: "http", protocol: "modern" },
  { way: "http", protocol: "auto" },
] as const;

const ARGUMENTS: readonly (readonly [string, JsonValue])[] = [
  ["get_level", { sku: "SKU-0001" }],
  ["get_level", { sku: "SKU-0000" }],
  ["get_level", { sku: "1015" }],
  ["get_level", { sku: "SKU-0001", extra: 1 }],
  ["get_level", { sku: "SKU-0001", kind: "some" }],
  ["get_level", "text"],
  ["get_level", {}],
  ["list_names", {}],
  ["order", { sku: "SKU-0001", quantity: "fifty" }],
  ["order", { sku: "SKU-0001", quantity: 50 }],
  ["break_down", {}],
  ["no_such_tool", {}],
];

describe.each(WAYS)("tools over $way, era $protocol", ({ way, protocol }) => {
  it("have the contracts, the checks and the results that they have in this process", async () => {
    await using boundary = await cross(way, protocol);
    const local = createToolExecutor(createShelf().tools);
    expect(boundary.executor.listTools()).toEqual(local.listTools());
    expect(boundary.executor.excluded).toEqual([]);
    for (const [tool, args] of ARGUMENTS) {
      const checked = await local.check(tool, args);
      const remote = await boundary.executor.check(tool, args);
      if (tool === "no_such_tool") expect(remote).toMatchObject({ ok: false, error: { code: "unknown_tool" } });
      else expect(remote).toEqual(checked);
      if (!checked.ok) continue;
      const context = toolContext();
      const result = await boundary.executor.execute(tool, checked.args, context);
      expect(result).toEqual(await local.execute(tool, checked.args, context));
    }
  });

  it("are given the run, the call, the key and the person of the caller", async () => {
    await using boundary = await cross(way, protocol);
    const context = toolContext({ attempt: 3 });
    await boundary.executor.execute("get_level", { sku: "SKU-0001" }, context);
    const { signal: _1, now: _2, ...told } = context;
    expect(boundary.shelf.contexts[0]).toMatchObject(told);
  });

  it("keep the ledgers of runs apart, also of runs side by side, and forget one on request", async () => {
    await using boundary = await cross(way, protocol);
    const order = async (runId: string) =>
      await boundary.executor.execute("order", { sku: "SKU-0001", quantity: 5 }, toolContext({ runId }));
    const first = await Promise.all(["run_a", "run_b", "run_c"].map(order));
    expect(first).toEqual(Array(3).fill({ ok: true, value: { request: "RSR-0001" } }));
    expect(await order("run_a")).toEqual({ ok: true, value: { request: "RSR-0002" } });
    await boundary.executor.reset(toolContext({ runId: "run_a" }));
    expect(await order("run_a")).toEqual({ ok: true, value: { request: "RSR-0001" } });
  });

  it("do not show what is hidden, and never reach a tool with wrong arguments", async () => {
    await using boundary = await cross(way, protocol);
    expect(boundary.executor.listTools().map(({ name }) => name)).not.toContain("reset_session_state");
    const result = await boundary.executor.execute("order", { sku: "x", quantity: 0 }, toolContext());
    expect(result).toMatchObject({ ok: false, error: { code: "invalid_arguments" } });
    expect(boundary.shelf.reached).toEqual([]);
  });
});
