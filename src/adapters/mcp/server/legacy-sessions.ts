import { randomUUID } from "node:crypto";
import { type McpServer, WebStandardStreamableHTTPServerTransport } from "@modelcontextprotocol/server";

/** Sessions at a time; the longest idle one is closed for another. */
const SESSIONS_MAX = 256;
const IDLE_MS_MAX = 30 * 60_000;

interface Session {
  readonly transport: WebStandardStreamableHTTPServerTransport;
  readonly server: McpServer;
  usedAt: number;
}

export interface LegacySessions {
  handle(request: Request): Promise<Response>;
  /** Every server that has a session. */
  servers(): readonly McpServer[];
  close(): Promise<void>;
}

/**
 * Serves the protocol's 2025 era over HTTP, which has sessions: one server for each, until it ends or is left alone.
 */
export function createLegacySessions(
  createServer: (sessionId: string) => McpServer,
  bodyBytesMax: number,
  now: () => number,
): LegacySessions {
  const sessions = new Map<string, Session>();

  async function drop(id: string): Promise<void> {
    const session = sessions.get(id);
    sessions.delete(id);
    await session?.server.close();
  }

  async function makeRoom(): Promise<void> {
    const byAge = [...sessions].sort(([, one], [, other]) => one.usedAt - other.usedAt);
    const idle = byAge.filter(([, { usedAt }]) => now() - usedAt > IDLE_MS_MAX);
    const surplus = byAge.slice(0, Math.max(0, byAge.length - SESSIONS_MAX + 1));
    for (const [id] of new Map([...idle, ...surplus])) {
      await drop(id);
    }
  }

  async function open(request: Request): Promise<Response> {
    await makeRoom();
    const id = randomUUID();
    const server = createServer(id);
    const transport = new WebStandardStreamableHTTPServerTransport({
      sessionIdGenerator: () => id,
      onsessioninitialized: () => {
        sessions.set(id, { transport, server, usedAt: now() });
      },
      onsessionclosed: () => drop(id),
      maxRequestBodySize: bodyBytesMax,
    });
    await server.connect(transport);
    const response = await transport.handleRequest(request);
    if (!sessions.has(id)) {
      // It was no initialization, and the transport said so.
      await server.close();
    }
    return response;
  }

  return {
    async handle(request) {
      const id = request.headers.get("mcp-session-id");
      if (id === null) {
        return await open(request);
      }
      const session = sessions.get(id);
      if (session === undefined) {
        return refusal(404, "Session not found");
      }
      session.usedAt = now();
      return await session.transport.handleRequest(request);
    },
    servers: () => [...sessions.values()].map(({ server }) => server),
    close: async () => {
      for (const id of [...sessions.keys()]) {
        await drop(id);
      }
    },
  };
}

/** A refusal of a whole HTTP request, as the protocol words it. */
function refusal(status: number, message: string): Response {
  return Response.json({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null }, { status });
}
