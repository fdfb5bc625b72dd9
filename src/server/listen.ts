import { createServer as createHttpServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";
import { getRequestListener } from "@hono/node-server";
import type { Hono } from "hono";
import { BelayError } from "../errors.ts";
import type { ServerEnv } from "./http/env.ts";

export interface ListenOptions {
  /** Default 127.0.0.1: nobody else's machine. */
  readonly host?: string;
  /** 0: any free one. */
  readonly port: number;
  /** Milliseconds for the headers of a request. Default 10,000. */
  readonly headersTimeoutMs?: number;
  /** Milliseconds for a whole request. Default 30,000. */
  readonly requestTimeoutMs?: number;
}

export interface Listening {
  readonly host: string;
  readonly port: number;
  /** Takes no new connection, ends idle ones, and waits `graceMs` for what is being answered. */
  close(graceMs?: number): Promise<void>;
}

const HEADER_BYTES_MAX = 16_384;
const HEADERS_MAX = 100;
const CHECK_MS = 1000;
const GRACE_MS = 5000;
const IDLE_CHECK_MS = 50;

/** Serves an app over HTTP. Throws `BELAY_SERVER_ADDRESS` when it cannot listen there. */
export async function listen(app: Hono<ServerEnv>, options: ListenOptions): Promise<Listening> {
  const { host = "127.0.0.1", port, headersTimeoutMs = 10_000, requestTimeoutMs = 30_000 } = options;
  const handle = getRequestListener((request, env) => app.fetch(request, env as ServerEnv["Bindings"]), {
    overrideGlobalObjects: false,
  });
  const server = createHttpServer(
    {
      maxHeaderSize: HEADER_BYTES_MAX,
      headersTimeout: headersTimeoutMs,
      requestTimeout: requestTimeoutMs,
      keepAliveTimeout: 5000,
      connectionsCheckingInterval: CHECK_MS,
      // Two readers must see one request.
      insecureHTTPParser: false,
    },
    (incoming: IncomingMessage, outgoing: ServerResponse) => {
      handle(incoming, outgoing).catch(() => outgoing.destroy());
    },
  );
  server.maxHeadersCount = HEADERS_MAX;
  await started(server, host, port);
  const address = server.address() as AddressInfo;
  return { host: address.address, port: address.port, close: (graceMs = GRACE_MS) => closed(server, graceMs) };
}

function started(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once("error", (cause: NodeJS.ErrnoException) => reject(addressError(cause, host, port)));
    server.listen({ host, port }, () => {
      server.removeAllListeners("error");
      resolve();
    });
  });
}

const REASONS: Readonly<Record<string, string>> = {
  EADDRINUSE: "the port is taken by another program; choose another --port or stop that program",
  EACCES: "this user may not use that port; choose a --port above 1023",
  EADDRNOTAVAIL: "the host is no address of this machine; correct --host",
  ENOTFOUND: "the host name is not known; correct --host",
};

function addressError(cause: NodeJS.ErrnoException, host: string, port: number): BelayError {
  const reason = REASONS[cause.code ?? ""] ?? `the system says ${cause.code ?? "no"}; choose another --host or --port`;
  return new BelayError("BELAY_SERVER_ADDRESS", `Cannot listen on ${host}:${port}: ${reason}.`, { cause });
}

function closed(server: Server, graceMs: number): Promise<void> {
  return new Promise((resolve) => {
    const grace = setTimeout(() => server.closeAllConnections(), graceMs);
    // A connection becomes idle when its last answer is given, and would then stay open for another request.
    const idle = setInterval(() => server.closeIdleConnections(), IDLE_CHECK_MS);
    server.close(() => {
      clearTimeout(grace);
      clearInterval(idle);
      resolve();
    });
  });
}
