import {
  InMemoryTransport,
  StreamableHTTPClientTransport,
  type Transport,
  type VersionNegotiationMode,
} from "@modelcontextprotocol/client";
import { StdioClientTransport } from "@modelcontextprotocol/client/stdio";
import type { McpEra } from "../server/http-door.ts";
import type { McpToolServer } from "../server/tool-server.ts";
import { boundedFetch } from "./bounded-fetch.ts";

/** Where a tool server is. */
export type McpTransport =
  | {
      readonly kind: "stdio";
      readonly command: string;
      readonly args?: readonly string[];
      /** Added to the few variables that a child gets by default. */
      readonly env?: Readonly<Record<string, string>>;
      readonly cwd?: string;
      /** Gets what the child writes to stderr; default nobody. */
      readonly onStderr?: (text: string) => void;
    }
  | { readonly kind: "http"; readonly url: string; readonly token?: string }
  /** A server in this process. */
  | { readonly kind: "memory"; readonly server: McpToolServer };

/** `auto` asks the server which era it speaks; the others insist. */
export type McpProtocol = "auto" | McpEra;

export interface OpenedTransport {
  readonly transport: Transport;
  readonly mode: VersionNegotiationMode;
}

const MODERN: VersionNegotiationMode = { pin: "2026-07-28" };
/** Largest message of a server, in bytes. */
const MESSAGE_BYTES_MAX = 16 * 1024 * 1024;

/** Opens the way to a server; nothing has been said over it yet. */
export async function openTransport(to: McpTransport, protocol: McpProtocol): Promise<OpenedTransport> {
  const mode: VersionNegotiationMode = protocol === "modern" ? MODERN : protocol;
  switch (to.kind) {
    case "stdio": {
      const { command, args = [], env = {}, cwd } = to;
      const transport = new StdioClientTransport({
        command,
        args: [...args],
        env: { ...env },
        stderr: "pipe",
        maxBufferSize: MESSAGE_BYTES_MAX,
        ...(cwd === undefined ? {} : { cwd }),
      });
      // A pipe that nobody reads would block the child.
      transport.stderr?.on("data", (chunk) => to.onStderr?.(String(chunk)));
      return { transport, mode };
    }
    case "http": {
      const headers = to.token === undefined ? {} : { authorization: `Bearer ${to.token}` };
      const transport = new StreamableHTTPClientTransport(new URL(to.url), {
        requestInit: { headers },
        fetch: boundedFetch(fetch, MESSAGE_BYTES_MAX),
      });
      return { transport, mode };
    }
    case "memory":
      return await openMemory(to.server, protocol);
  }
}

/** Linked ends speak the older era alone; the newer one goes through the server's own request handler. */
async function openMemory(server: McpToolServer, protocol: McpProtocol): Promise<OpenedTransport> {
  if (protocol === "modern") {
    const transport = new StreamableHTTPClientTransport(new URL("http://belay.invalid/mcp"), {
      fetch: (url, init) => server.fetch(new Request(url, init), { trustCaller: true }),
    });
    return { transport, mode: MODERN };
  }
  const [ours, theirs] = InMemoryTransport.createLinkedPair();
  await server.connect(theirs, { trustCaller: true });
  return { transport: ours, mode: "legacy" };
}
