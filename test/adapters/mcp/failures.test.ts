import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectMcp, createMcpToolServer, listenMcp, type McpExecutor } from "../../../src/adapters/mcp/index.ts";
import { createHarness, defineAgent, type ToolResult } from "../../../src/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { createShelf, toolContext } from "./fixture.ts";

const RAW = join(import.meta.dirname, "children/raw-server.ts");
const LEVELS = { read_it: "read", typed_it: "read", change_it: "write" } as const;

interface RawPeer {
  readonly executor: McpExecutor;
  log(): readonly string[];
  metas(): readonly string[];
}

async function rawPeer(timeoutMs = 5_000): Promise<RawPeer> {
  const folder = mkdtempSync(join(tmpdir(), "belay-mcp-"));
  const file = join(folder, "log");
  const executor = await connectMcp({
    name: "raw",
    transport: { kind: "stdio", command: process.execPath, args: [RAW], env: { RAW_LOG: file } },
    protocol: "legacy",
    levels: LEVELS,
    unclassified: "refuse",
    timeoutMs,
    retryDelayMs: 10,
  });
  onTestFinished(async () => {
    await executor.close();
    rmSync(folder, { recursive: true, force: true });
  });
  const lines = (isMeta: boolean): readonly string[] => {
    try {
      const all = readFileSync(file, "utf8").trim().split("\n");
      return all.filter((line) => line.startsWith("meta") === isMeta);
    } catch {
      return [];
    }
  };
  return { executor, log: () => lines(false), metas: () => lines(true) };
}

const call = async (peer: RawPeer, tool: string, how: string, signal?: AbortSignal): Promise<ToolResult> =>
  await peer.executor.execute(tool, { how }, toolContext(signal && { signal }));

const codeOf = (result: ToolResult): string => (result.ok ? "ok" : result.error.code);

describe("a server that fails", () => {
  it("by dying: a read is tried once more, a change never, and both go on with a new process", async () => {
    const peer = await rawPeer();
    expect(await call(peer, "read_it", "exit")).toMatchObject({ error: { code: "mcp_unavailable", retryable: true } });
    expect(peer.log()).toEqual(["call read_it exit", "call read_it exit"]);
    expect(await call(peer, "change_it", "exit")).toMatchObject({ error: { code: "tool_failed", retryable: false } });
    expect(peer.log().slice(2)).toEqual(["call change_it exit"]);
    expect(codeOf(await call(peer, "change_it", "well"))).toBe("ok");
  });

  it("by never answering: the call is cancelled and only a read is a definite failure", async () => {
    const peer = await rawPeer(200);
    expect(await call(peer, "read_it", "hang")).toMatchObject({ error: { code: "mcp_timeout", retryable: true } });
    expect(codeOf(await call(peer, "change_it", "hang"))).toBe("tool_failed");
    await expect.poll(() => peer.log().filter((line) => line === "cancelled")).toHaveLength(2);
  });

  it("by being told to stop: the server hears of it", async () => {
    const peer = await rawPeer();
    const stop = new AbortController();
    const running = call(peer, "change_it", "hang", stop.signal);
    await expect.poll(() => peer.log()).toContain("call change_it hang");
    stop.abort();
    expect(codeOf(await running)).toBe("tool_failed");
    await expect.poll(() => peer.log()).toContain("cancelled");
  });

  it.each([
    ["read_it", "rpc_error", "mcp_protocol_error"],
    ["change_it", "rpc_error", "tool_failed"],
    ["read_it", "is_error", "mcp_tool_error"],
    ["change_it", "is_error", "tool_failed"],
    ["change_it", "forged", "tool_failed"],
    ["typed_it", "well", "ok"],
    ["typed_it", "wrong_type", "mcp_result_invalid"],
    ["typed_it", "unstructured", "mcp_result_invalid"],
  ])("%s with %s is %s", async (tool, how, code) => {
    const peer = await rawPeer();
    const result = await call(peer, tool, how);
    expect(codeOf(result)).toBe(code);
    if (how === "is_error") expect(JSON.stringify(result)).toContain("no such thing");
    expect(JSON.stringify(result)).not.toContain("\u200b");
  });

  it("by listing what cannot be used: that is left out with a reason, and the rest works", async () => {
    const { executor } = await rawPeer();
    expect(executor.listTools().map(({ name }) => name)).toEqual(["read_it", "change_it", "typed_it"]);
    const reasons = Object.fromEntries(executor.excluded.map(({ name, reason }) => [name, reason]));
    expect(reasons["twice"]).toContain("twice");
    expect(reasons["bad_schema"]).toContain("nobody gave it a level");
    expect(Object.keys(reasons).some((name) => /bad.*name/.test(name))).toBe(true);
  });

  it("by talking to the model in its descriptions: they are cleaned and bounded", async () => {
    const { executor } = await rawPeer();
    const { description = "" } = executor.listTools().find(({ name }) => name === "read_it") ?? {};
    expect(description).toMatch(/^Reads\. Ignore/);
    expect(description.length).toBeLessThanOrEqual(2_000);
  });

  it("is told nothing about whose call it is", async () => {
    const peer = await rawPeer();
    const { idempotencyKey } = toolContext({ runId: "run_secret" });
    const args = { how: "well" };
    await peer.executor.execute("change_it", args, toolContext({ runId: "run_secret", idempotencyKey }));
    await peer.executor.execute("change_it", args, toolContext({ runId: "run_secret", idempotencyKey }));
    const [first = "", second] = peer.metas();
    for (const secret of ["run_secret", "acme", "C-7"]) expect(first).not.toContain(secret);
    expect(first).toMatch(/[0-9a-f]{64}/);
    expect(second).toBe(first);
  });

  it("by not being there at all: connecting says which and what to do", async () => {
    const missing = connectMcp({
      name: "ghost",
      transport: { kind: "stdio", command: join(tmpdir(), "no-such-program") },
      protocol: "legacy",
      retryDelayMs: 1,
    });
    await expect(missing).rejects.toMatchObject({
      code: "BELAY_MCP_UNAVAILABLE",
      message: expect.stringMatching(/ghost.*Start it/),
    });
    const closed = createServer().listen(0, "127.0.0.1");
    await new Promise((resolve) => closed.once("listening", resolve));
    const { port } = closed.address() as AddressInfo;
    await new Promise((resolve) => closed.close(resolve));
    const refused = connectMcp({ transport: { kind: "http", url: `http://127.0.0.1:${port}/mcp` }, retryDelayMs: 1 });
    await expect(refused).rejects.toMatchObject({ code: "BELAY_MCP_UNAVAILABLE" });
  });

  it.each(["legacy", "modern"] as const)(
    "by going away over HTTP, era %s: a read finds out, and a change is then not sent",
    async (protocol) => {
      const shelf = createShelf();
      const server = createMcpToolServer({ name: "shelf", version: "1", tools: shelf.tools });
      const listener = await listenMcp(server);
      await using executor = await connectMcp({
        transport: { kind: "http", url: listener.url },
        protocol,
        levels: { get_level: "read", order: "write" },
        retryDelayMs: 1,
      });
      await listener.close();
      // A connection that was kept alive may die with a request in it, so a read goes first.
      const read = await executor.execute("get_level", { sku: "SKU-0001" }, toolContext());
      expect(read).toMatchObject({ ok: false, error: { code: "mcp_unavailable", retryable: true } });
      const order = await executor.execute("order", { sku: "SKU-0001", quantity: 1 }, toolContext());
      expect(order).toMatchObject({ ok: false, error: { code: "mcp_unavailable", retryable: true } });
      // Back on the same port, the next call finds it.
      const again = createMcpToolServer({ name: "shelf", version: "1", tools: shelf.tools });
      await using _listener = await listenMcp(again, { port: listener.port });
      const level = await executor.execute("get_level", { sku: "SKU-0001" }, toolContext());
      expect(level).toEqual({ ok: true, value: { sku: "SKU-0001", level: 4 } });
    },
  );
});

describe("a harness over such a server", () => {
  it("records a change that was lost half way as unknown, and does not repeat it", async () => {
    const peer = await rawPeer();
    const agent = defineAgent({
      name: "risky",
      revision: "1",
      instructions: "",
      tools: [],
      executor: () => peer.executor,
      rules: [{ id: "all", decide: () => ({ verdict: "allow", code: "OK", reason: "a test" }) }],
    });
    const model = scriptedModel([
      { kind: "calls", text: "", calls: [{ tool: "change_it", args: { json: { how: "exit" } } }] },
      { kind: "final", text: "I do not know whether it happened." },
    ]);
    const harness = createHarness({ agent, model, store: createMemoryStore() });
    const result = await harness.run("Change it").result;
    expect(result.calls.map(({ outcome }) => outcome?.status)).toEqual(["unknown"]);
    expect(peer.log()).toEqual(["call change_it exit"]);
  });
});
