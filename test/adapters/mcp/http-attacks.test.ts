import { request as httpRequest } from "node:http";
import { connect } from "node:net";
import { describe, expect, it } from "vitest";
import { createMcpToolServer, listenMcp, type McpListenOptions } from "../../../src/adapters/mcp/index.ts";
import { createShelf } from "./fixture.ts";

const LIST = JSON.stringify({
  jsonrpc: "2.0",
  id: 1,
  method: "tools/list",
  params: {
    _meta: {
      "io.modelcontextprotocol/protocolVersion": "2026-07-28",
      "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
      "io.modelcontextprotocol/clientCapabilities": {},
    },
  },
});

const HEADERS = {
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  "mcp-protocol-version": "2026-07-28",
  "mcp-method": "tools/list",
};

interface Sent {
  readonly status: number;
  readonly body: string;
}

/** Sends exactly these headers; `fetch` would not let a test forge Host or Origin. */
function send(
  port: number,
  headers: Readonly<Record<string, string>> = {},
  options: { readonly path?: string; readonly method?: string; readonly body?: string } = {},
): Promise<Sent> {
  const { path = "/mcp", method = "POST", body = LIST } = options;
  return new Promise((resolve, reject) => {
    const outgoing = httpRequest(
      { host: "127.0.0.1", port, path, method, headers: { ...HEADERS, ...headers } },
      (reply) => {
        let text = "";
        reply.on("data", (chunk) => {
          text += chunk;
        });
        reply.on("end", () => resolve({ status: reply.statusCode ?? 0, body: text }));
      },
    );
    outgoing.on("error", reject);
    outgoing.end(method === "GET" ? undefined : body);
  });
}

async function listening(options: McpListenOptions = {}) {
  const shelf = createShelf();
  const server = createMcpToolServer({ name: "shelf", version: "1", tools: shelf.tools });
  const listener = await listenMcp(server, options);
  return { ...listener, shelf };
}

describe("a tool server on loopback", () => {
  it("answers who calls it by a name of its own", async () => {
    await using server = await listening();
    const { port } = server;
    for (const host of [`127.0.0.1:${port}`, `localhost:${port}`, `[::1]:${port}`, `LOCALHOST:${port}`]) {
      expect((await send(port, { host })).status, host).toBe(200);
    }
    expect((await send(port, { origin: `http://localhost:${port}` })).status).toBe(200);
  });

  it.each([
    { host: "evil.example" },
    { host: "evil.example:80" },
    { host: "127.0.0.1" },
    { host: "localhost:1" },
    { host: "localhost.evil.example" },
    { host: "127.0.0.1.evil.example" },
    { origin: "http://evil.example" },
    { origin: "null" },
    { origin: "http://localhost:1" },
    { origin: "https://localhost" },
    { origin: "http://localhost.evil.example" },
    { origin: "file://" },
  ])("refuses a page that rebinds a name or calls across: %j", async (headers) => {
    await using server = await listening();
    const { status, body } = await send(server.port, headers);
    expect(status).toBe(403);
    expect(body).not.toContain("get_level");
  });

  it("takes an origin that it was told to allow", async () => {
    await using server = await listening({ allowedOrigins: ["http://localhost:6274"] });
    expect((await send(server.port, { origin: "http://localhost:6274" })).status).toBe(200);
    expect((await send(server.port, { origin: "http://localhost:6275" })).status).toBe(403);
  });

  it("wants its token, and nothing like it", async () => {
    await using server = await listening({ token: "s3cret" });
    for (const authorization of [undefined, "", "Bearer", "Bearer s3cre", "Bearer s3cret2", "s3cret", "Basic s3cret"]) {
      const { status } = await send(server.port, authorization === undefined ? {} : { authorization });
      expect(status, authorization).toBe(401);
    }
    expect((await send(server.port, { authorization: "Bearer s3cret" })).status).toBe(200);
  });

  it("bounds a body, serves one path, and knows no session that it did not make", async () => {
    await using server = await listening({ bodyBytesMax: 10_000 });
    const { port } = server;
    expect((await send(port, {}, { body: `{"x":"${"y".repeat(20_000)}"}` })).status).toBe(413);
    expect((await send(port, {}, { path: "/" })).status).toBe(404);
    expect((await send(port, {}, { path: "/mcp/../mcp" })).status).toBe(404);
    expect((await send(port, {}, { body: "{not json" })).status).toBe(400);
    const legacy = { "mcp-protocol-version": "2025-11-25", "mcp-session-id": "00000000-0000-4000-8000-000000000000" };
    const call = JSON.stringify({ jsonrpc: "2.0", id: 1, method: "tools/list" });
    expect((await send(port, legacy, { body: call })).status).toBe(404);
    expect((await send(port, { "mcp-protocol-version": "2025-11-25" }, { body: call })).status).toBe(400);
    expect((await send(port, legacy, { method: "GET" })).status).toBe(404);
  });

  it("survives what is not HTTP at all", async () => {
    await using server = await listening();
    await new Promise<void>((resolve) => {
      const socket = connect(server.port, "127.0.0.1", () => socket.end("\u0000\u0001 not http\r\n\r\n"));
      socket.on("close", () => resolve());
      socket.on("error", () => resolve());
      socket.resume();
    });
    expect((await send(server.port)).status).toBe(200);
  });

  it("binds to loopback alone, and says when a port is taken", async () => {
    const server = createMcpToolServer({ name: "shelf", version: "1", tools: createShelf().tools });
    for (const host of ["0.0.0.0", "::", "192.168.1.2", "example.com", ""]) {
      await expect(listenMcp(server, { host })).rejects.toMatchObject({ code: "BELAY_MCP_INVALID" });
    }
    await using taken = await listening();
    await expect(listenMcp(server, { port: taken.port })).rejects.toMatchObject({ code: "BELAY_MCP_LISTEN" });
  });

  it("believes nobody about tenant and person without a token", async () => {
    await using server = await listening();
    const call = {
      jsonrpc: "2.0",
      id: 1,
      method: "tools/call",
      params: {
        name: "get_level",
        arguments: { sku: "SKU-0001" },
        _meta: {
          "io.modelcontextprotocol/protocolVersion": "2026-07-28",
          "io.modelcontextprotocol/clientCapabilities": {},
          "belay/runId": "run_7",
          "belay/tenant": "someone-else",
          "belay/principal": { kind: "person", id: "dana" },
        },
      },
    };
    const headers = { "mcp-method": "tools/call", "mcp-name": "get_level" };
    expect((await send(server.port, headers, { body: JSON.stringify(call) })).status).toBe(200);
    expect(server.shelf.contexts[0]).toMatchObject({
      runId: "run_7",
      tenant: "default",
      principal: { kind: "agent", id: "mcp" },
    });
  });
});
