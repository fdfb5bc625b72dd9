import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import shop from "../../../apps/shop/index.ts";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import {
  createMcpToolServer,
  listenMcp,
  type McpToolsMode,
  resetSessionTool,
  type WithMcpToolsOptions,
  withMcpTools,
} from "../../../src/adapters/mcp/index.ts";
import type { AnyApp } from "../../../src/config.ts";
import { type Agent, createHarness, type RunResult } from "../../../src/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";

const MAIN = join(import.meta.dirname, "../../../src/cli/main.ts");
const PROJECT = join(import.meta.dirname, "../../..");
const MODES: readonly McpToolsMode[] = ["mcp", "mcp-http", "mcp-stdio"];

interface Opened {
  readonly agent: Agent;
  readonly run: (agent: Agent, message: string) => Promise<RunResult>;
}

function open(app: AnyApp): Opened {
  const world = app.openWorld(":memory:");
  onTestFinished(() => world.close());
  const agent = app.agent(world as never, Date.now);
  let runs = 0;
  return {
    agent,
    run: async (through, message) => {
      runs += 1;
      const harness = createHarness({
        agent: through,
        model: app.offlineModel(world as never),
        store: createMemoryStore(),
        ...(app.prices && { prices: app.prices }),
      });
      const principal = app.defaultPrincipal ?? ({ kind: "customer", id: "customer" } as const);
      return await harness.run(message, { principal, runId: `run_${runs}`, conversationId: "cnv_1" }).result;
    },
  };
}

/** What a run did, without the things that no two runs share. */
function story({ answer, label, calls, usage }: RunResult): object {
  const { inputTokens, outputTokens, modelCalls } = usage;
  return {
    answer,
    label,
    usage: { inputTokens, outputTokens, modelCalls },
    calls: calls.map(({ call, outcome }) => ({ tool: call.tool, args: call.args, outcome })),
  };
}

function serveCommand(app: string, env: Readonly<Record<string, string>> = {}): WithMcpToolsOptions["command"] {
  const folder = mkdtempSync(join(tmpdir(), "belay-mcp-app-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const config = join(PROJECT, "belay.config.ts");
  return {
    command: process.execPath,
    args: ["--conditions=belay-source", MAIN, "mcp", "serve", app, "--fresh", "--config", config],
    env,
    cwd: folder,
  };
}

/** Runs messages in process and through a boundary, each against a fresh world. */
async function compare(app: AnyApp, mode: McpToolsMode, messages: readonly string[], name: string): Promise<void> {
  const here = open(app);
  const there = open(app);
  const command = mode === "mcp-stdio" ? serveCommand(name) : undefined;
  await using over = await withMcpTools(there.agent, mode, command === undefined ? {} : { command });
  expect(over.executor.excluded).toEqual([]);
  for (const message of messages) {
    const local = await here.run(here.agent, message);
    expect(local.calls.length, message).toBeGreaterThan(0);
    expect(story(await there.run(over.agent, message)), message).toEqual(story(local));
  }
}

describe.each(MODES)("tools through %s", { timeout: 30_000 }, (mode) => {
  it("give the shop's runs the same story as tools in this process", async () => {
    await compare(shop, mode, ["Where is my order O-1001?", "Where is my order O-9999?"], "shop");
  });

  it("give the stockroom's runs the same story, ledger and failures included", async () => {
    const messages = [
      "Is SKU-1008 at or below its reorder point? If so, raise an urgent restock request for 20 units.",
      "What is the status of order ORD-9001?",
      "What priority should a restock request have when stock is zero?",
      "Please restock 10000 units of SKU-1007.",
    ];
    await compare(createStockroomApp(), mode, messages, "stockroom");
  });
});

describe("a server with a fault of its own", { timeout: 30_000 }, () => {
  const query = "What is the status of order ORD-1001?";
  const toolsOf = ({ calls }: RunResult): readonly string[] => calls.map(({ call }) => call.tool);

  it("shows it through a harness whose own configuration is clean, over HTTP", async () => {
    const clean = open(createStockroomApp());
    expect(toolsOf(await clean.run(clean.agent, query))).toEqual(["get_order_status"]);

    const faulty = createStockroomApp({ weaknesses: ["ambiguous_tool_desc"] });
    const world = faulty.openWorld(":memory:");
    onTestFinished(() => world.close());
    const { tools } = faulty.agent(world, Date.now);
    const server = createMcpToolServer({
      name: "faulty",
      version: "1",
      tools,
      hidden: [resetSessionTool(world.reset)],
    });
    await using listener = await listenMcp(server, { token: "t" });
    await using over = await withMcpTools(clean.agent, "mcp-http", { url: listener.url, token: "t" });
    expect(toolsOf(await clean.run(over.agent, query))).toContain("search_products");
  });

  it("reads its faults from its own environment, over stdio", async () => {
    const clean = open(createStockroomApp());
    const command = serveCommand("stockroom", { STOCKROOM_WEAKNESSES: "ambiguous_tool_desc" });
    await using over = await withMcpTools(clean.agent, "mcp-stdio", command === undefined ? {} : { command });
    expect(toolsOf(await clean.run(over.agent, query))).toContain("search_products");
  });

  it("keeps apart clients that call their runs by the same name", async () => {
    const app = createStockroomApp();
    const world = app.openWorld(":memory:");
    onTestFinished(() => world.close());
    const { tools } = app.agent(world, Date.now);
    const server = createMcpToolServer({ name: "shared", version: "1", tools });
    await using listener = await listenMcp(server, { token: "t" });
    const restock = async (): Promise<string | undefined> => {
      const opened = open(createStockroomApp());
      await using over = await withMcpTools(opened.agent, "mcp-http", { url: listener.url, token: "t" });
      return (await opened.run(over.agent, "Please raise a restock request for 50 units of SKU-1007.")).answer;
    };
    const answers = await Promise.all([restock(), restock(), restock()]);
    expect(new Set(answers).size).toBe(1);
    expect(answers[0]).toContain("RSR-0001");
  });
});
