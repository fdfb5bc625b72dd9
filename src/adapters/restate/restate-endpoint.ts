import { once } from "node:events";
import { createServer, type Http2Server, type ServerHttp2Session } from "node:http2";
import { setTimeout as sleep } from "node:timers/promises";
import { createEndpointHandler } from "@restatedev/restate-sdk";
import { BelayError } from "../../errors.ts";
import type { RestateSettings } from "./restate-options.ts";
import type { createServices } from "./restate-services.ts";

/** Where Restate delivers to. */
export interface Endpoint {
  /** Takes no more, lets what is under way answer, and ends. */
  close(underWay: () => Promise<void>): Promise<void>;
}

// How long an answer that is on its way out may take before its connection is cut.
const FLUSH_MS = 2000;

/** Listens; throws `BELAY_WAKER_FAILED` when the port is taken by a program that does not share it. */
export async function openEndpoint(
  settings: RestateSettings,
  services: ReturnType<typeof createServices>,
): Promise<Endpoint> {
  const handler = createEndpointHandler({
    services,
    // What goes wrong is delivered again; the harness tells the operator.
    logger: () => undefined,
    ...(settings.identityKeys.length === 0 ? {} : { identityKeys: [...settings.identityKeys] }),
  });
  const server = createServer(handler);
  const sessions = new Set<ServerHttp2Session>();
  server.on("session", (session) => {
    sessions.add(session);
    session.once("close", () => sessions.delete(session));
    session.on("error", () => undefined);
  });
  await listen(server, settings);
  return {
    async close(underWay) {
      server.close();
      // Tells Restate to go elsewhere with what is new.
      for (const session of sessions) session.close();
      await underWay();
      const ended = Promise.all([...sessions].map((session) => once(session, "close")));
      await Promise.race([ended, sleep(FLUSH_MS, undefined, { ref: false })]);
      for (const session of sessions) session.destroy();
    },
  };
}

async function listen(server: Http2Server, { host, port }: RestateSettings): Promise<void> {
  // Only Linux spreads connections over the processes that share a port.
  server.listen({ host, port, reusePort: process.platform === "linux" });
  try {
    await once(server, "listening");
  } catch (cause) {
    const message = `a worker cannot listen on ${host}:${port}; give another listen.port or end what has it`;
    throw new BelayError("BELAY_WAKER_FAILED", message, { cause });
  }
}
