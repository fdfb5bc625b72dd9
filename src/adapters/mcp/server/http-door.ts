import { randomUUID } from "node:crypto";
import { createMcpHandler, isLegacyRequest, type McpServer } from "@modelcontextprotocol/server";
import { createLegacySessions } from "./legacy-sessions.ts";

/** Era of the protocol: `modern` is revision 2026-07-28, `legacy` 2025-11-25 and before. */
export type McpEra = "modern" | "legacy";

/** A list that a client may hold a copy of. */
export type Changeable = "tools" | "prompts" | "resources";

/** Both eras over HTTP, for callers of one kind of trust. */
export interface HttpDoor {
  fetch(request: Request): Promise<Response>;
  changed(what: Changeable): void;
  close(): Promise<void>;
}

export interface HttpDoorOptions {
  readonly bodyBytesMax: number;
  readonly now: () => number;
  readonly onError: (error: Error) => void;
}

/** The run of a caller that names none. */
export function freshRunId(): string {
  return `mcp-${randomUUID()}`;
}

/** A modern request gets a server of its own, a legacy client one for its session. */
export function createHttpDoor(
  createServer: (era: McpEra, fallbackRunId: string) => McpServer,
  { bodyBytesMax, now, onError }: HttpDoorOptions,
): HttpDoor {
  const modern = createMcpHandler(() => createServer("modern", freshRunId()), {
    legacy: "reject",
    onerror: onError,
    maxRequestBodySize: bodyBytesMax,
  });
  const legacy = createLegacySessions((sessionId) => createServer("legacy", `mcp-${sessionId}`), bodyBytesMax, now);
  return {
    async fetch(request) {
      const isLegacy = await isLegacyRequest(request, undefined, { maxRequestBodySize: bodyBytesMax });
      return isLegacy ? await legacy.handle(request) : await modern.fetch(request);
    },
    changed(what) {
      modern.bus.publish({ kind: `${what}_list_changed` });
      for (const server of legacy.servers()) {
        announce(server, what);
      }
    },
    close: async () => {
      await Promise.all([modern.close(), legacy.close()]);
    },
  };
}

/** Tells the client of one connection. */
export function announce(server: McpServer, what: Changeable): void {
  if (what === "tools") {
    server.sendToolListChanged();
  } else if (what === "prompts") {
    server.sendPromptListChanged();
  } else {
    server.sendResourceListChanged();
  }
}
