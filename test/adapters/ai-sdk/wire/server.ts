import { createServer, type IncomingMessage, type ServerResponse } from "node:http";
import type { AddressInfo } from "node:net";

/** What the server does with one request. */
export type WireAnswer =
  | {
      readonly kind: "json";
      readonly body: unknown;
      readonly status?: number;
      readonly headers?: Record<string, string>;
    }
  /** Server-sent events; `end` says how the connection ends after them. */
  | { readonly kind: "events"; readonly events: readonly string[]; readonly end?: "close" | "destroy" | "hang" }
  /** Takes the request and never says anything. */
  | { readonly kind: "hang" }
  | { readonly kind: "destroy" };

export interface WireRequest {
  readonly method: string;
  readonly path: string;
  readonly headers: IncomingMessage["headers"];
  // biome-ignore lint/suspicious/noExplicitAny: a body of any wire format
  readonly body: any;
}

export interface WireServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly WireRequest[];
  /** Resolves when the client has hung up on that many requests. */
  hungUp(count: number): Promise<void>;
}

/** A provider on loopback that gives the answers in order, and the last one for ever. */
export async function startWireServer(answers: readonly WireAnswer[]): Promise<WireServer> {
  const requests: WireRequest[] = [];
  let closed = 0;
  const waiting = new Set<() => void>();
  const server = createServer(async (request, response) => {
    response.on("close", () => {
      if (!response.writableFinished) closed += 1;
      for (const look of waiting) look();
    });
    const body = await readBody(request);
    const answer = answers[Math.min(requests.length, answers.length - 1)];
    const { method = "", url = "", headers } = request;
    requests.push({ method, path: url, headers, body });
    if (answer !== undefined) give(response, answer);
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const { port } = server.address() as AddressInfo;
  return {
    url: `http://127.0.0.1:${port}`,
    requests,
    hungUp: (count) =>
      new Promise((resolve) => {
        const look = (): void => {
          if (closed < count) return;
          waiting.delete(look);
          resolve();
        };
        waiting.add(look);
        look();
      }),
    [Symbol.asyncDispose]: async () => {
      server.closeAllConnections();
      await new Promise((resolve) => server.close(resolve));
    },
  };
}

function give(response: ServerResponse, answer: WireAnswer): void {
  switch (answer.kind) {
    case "json":
      response.writeHead(answer.status ?? 200, { "content-type": "application/json", ...answer.headers });
      response.end(JSON.stringify(answer.body));
      return;
    case "events":
      response.writeHead(200, { "content-type": "text/event-stream" });
      response.flushHeaders();
      response.write(answer.events.join(""), () => {
        if (answer.end === "destroy") response.destroy();
        else if (answer.end !== "hang") response.end();
      });
      return;
    case "destroy":
      response.destroy();
      return;
    case "hang":
      return;
  }
}

async function readBody(request: IncomingMessage): Promise<unknown> {
  let text = "";
  for await (const piece of request.setEncoding("utf8")) text += piece;
  return text === "" ? undefined : JSON.parse(text);
}
