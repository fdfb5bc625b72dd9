import { createHash, timingSafeEqual } from "node:crypto";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { type NodeIncomingMessageLike, toNodeHandler } from "@modelcontextprotocol/node";
import { BelayError } from "../../../errors.ts";
import type { McpToolServer } from "./tool-server.ts";

const PATH = "/mcp";
const LOOPBACK: ReadonlyMap<string, string> = new Map([
  ["127.0.0.1", "127.0.0.1"],
  ["localhost", "localhost"],
  ["::1", "[::1]"],
]);

export interface McpListenOptions {
  /** Default 0, a free port. */
  readonly port?: number;
  /** A loopback address: `127.0.0.1` (default), `localhost` or `::1`. */
  readonly host?: string;
  /** When given, each request must carry it as a bearer token, and callers are then trusted to say whom they act for. */
  readonly token?: string;
  /** Further web origins that may call, such as `http://localhost:6274`. */
  readonly allowedOrigins?: readonly string[];
  /** Largest request, in bytes. Default 1 MiB. */
  readonly bodyBytesMax?: number;
}

export interface McpListener extends AsyncDisposable {
  readonly url: string;
  readonly port: number;
  /** Answers no new request, ends what is open, and resolves when the port is free. */
  close(): Promise<void>;
}

/**
 * Serves a tool server over streamable HTTP on a loopback address.
 *
 * A page in a browser can send requests to loopback too, also under a name that it makes resolve there. So the Host
 * must be a loopback name with this port and an Origin, when there is one, a page of this server or an allowed one.
 * Throws `BELAY_MCP_INVALID` for an address that is not loopback, `BELAY_MCP_LISTEN` for a port that is taken.
 */
export async function listenMcp(server: McpToolServer, options: McpListenOptions = {}): Promise<McpListener> {
  const { host = "127.0.0.1", port = 0, token, bodyBytesMax = 1024 * 1024 } = options;
  const shownHost = LOOPBACK.get(host);
  if (shownHost === undefined) {
    throw new BelayError(
      "BELAY_MCP_INVALID",
      `${JSON.stringify(host)} is no loopback address. Use 127.0.0.1, localhost or ::1, and put a proxy with ` +
        "authentication in front of it for others.",
    );
  }
  const trust = { trustCaller: token !== undefined };
  const handle = toNodeHandler(
    { fetch: (request) => server.fetch(request, trust) },
    { maxRequestBodySize: bodyBytesMax },
  );
  const allowed = { hosts: new Set<string>(), origins: new Set(options.allowedOrigins ?? []) };
  const http = createServer({ maxHeaderSize: 16_384, requestTimeout: 30_000 }, (request, response) => {
    const refused = refusalOf(request, allowed, token);
    if (refused !== undefined) {
      refuse(response, refused.status, refused.message);
      return;
    }
    // Their types differ only in what `exactOptionalPropertyTypes` makes of an absent method.
    handle(request as NodeIncomingMessageLike, response).catch(() => response.destroy());
  });
  const bound = await listening(http, host, port);
  for (const name of LOOPBACK.values()) {
    allowed.hosts.add(`${name}:${bound}`);
    allowed.origins.add(`http://${name}:${bound}`);
  }
  const close = (): Promise<void> => stop(http, server);
  return { url: `http://${shownHost}:${bound}${PATH}`, port: bound, close, [Symbol.asyncDispose]: close };
}

function refusalOf(
  { headers, url }: IncomingMessage,
  allowed: { readonly hosts: ReadonlySet<string>; readonly origins: ReadonlySet<string> },
  token: string | undefined,
): { readonly status: number; readonly message: string } | undefined {
  if (!allowed.hosts.has(headers.host?.toLowerCase() ?? "")) {
    return { status: 403, message: "Invalid Host" };
  }
  if (headers.origin !== undefined && !allowed.origins.has(headers.origin.toLowerCase())) {
    return { status: 403, message: "Invalid Origin" };
  }
  if (token !== undefined && !isToken(headers.authorization, token)) {
    return { status: 401, message: "A bearer token is required" };
  }
  // A query has no meaning here, and a longer path is another resource.
  return url === PATH ? undefined : { status: 404, message: `Only ${PATH} is served` };
}

function isToken(authorization: string | undefined, token: string): boolean {
  const digest = (text: string): Buffer => createHash("sha256").update(text).digest();
  return timingSafeEqual(digest(authorization ?? ""), digest(`Bearer ${token}`));
}

function refuse(response: ServerResponse, status: number, message: string): void {
  const body = JSON.stringify({ jsonrpc: "2.0", error: { code: -32_000, message }, id: null });
  // The body of a refused request is never read, so the connection cannot be used again.
  response.writeHead(status, { "content-type": "application/json", connection: "close" }).end(body);
}

function listening(http: Server, host: string, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    http.once("error", (cause: NodeJS.ErrnoException) =>
      reject(
        new BelayError(
          "BELAY_MCP_LISTEN",
          `${host}:${port} cannot be listened on (${cause.code ?? "error"}). Give another port, or 0 for a free one.`,
          { cause },
        ),
      ),
    );
    http.listen(port, host, () => resolve((http.address() as AddressInfo).port));
  });
}

async function stop(http: Server, server: McpToolServer): Promise<void> {
  const closed = new Promise<void>((resolve) => http.close(() => resolve()));
  await server.close();
  http.closeIdleConnections();
  // Streams that wait for news would hold the port for ever.
  setTimeout(() => http.closeAllConnections(), 500).unref();
  await closed;
}
