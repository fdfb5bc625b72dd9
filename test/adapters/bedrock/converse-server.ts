import { once } from "node:events";
import { createServer, type Http2ServerRequest, type Http2ServerResponse, type Http2Session } from "node:http2";
import type { AddressInfo } from "node:net";
import { text } from "node:stream/consumers";
import { BedrockRuntimeClient } from "@aws-sdk/client-bedrock-runtime";
import { onTestFinished } from "vitest";

/** What a client sent. */
export interface Received {
  readonly path: string;
  readonly body: {
    readonly messages: readonly { readonly role: string; readonly content: readonly Record<string, unknown>[] }[];
    readonly system?: readonly unknown[];
    readonly toolConfig?: { readonly tools: readonly unknown[] };
    readonly inferenceConfig: unknown;
  };
}

/** One answer of the service: a status, a body as JSON or as it is, and the error's type where it is one. */
export interface Answer {
  readonly status?: number;
  readonly body: unknown;
  readonly type?: string;
  readonly headers?: Readonly<Record<string, string>>;
}

export type Answers = readonly (Answer | "hang")[];

export const DUMMY_SECRET = "dummy-secret-key";

/**
 * A service on this machine that speaks Converse over HTTP/2, as the client does, and a client of it.
 *
 * It gives its answers in order and refuses whatever comes after the last.
 */
export async function converseServer(answers: Answers): Promise<{
  readonly client: BedrockRuntimeClient;
  readonly received: readonly Received[];
  readonly aborted: Promise<void>;
}> {
  const received: Received[] = [];
  const sessions = new Set<Http2Session>();
  const aborted = Promise.withResolvers<void>();
  const server = createServer();
  server.on("session", (session) => sessions.add(session));
  server.on("request", (request, response) => {
    request.on("aborted", () => aborted.resolve());
    void answer(request, response, answers, received);
  });
  server.listen(0, "127.0.0.1");
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const client = new BedrockRuntimeClient({
    region: "us-east-1",
    endpoint: `http://127.0.0.1:${port}`,
    credentials: { accessKeyId: "DUMMYKEY", secretAccessKey: DUMMY_SECRET },
    maxAttempts: 1,
  });
  onTestFinished(() => {
    client.destroy();
    for (const session of sessions) session.destroy();
    server.close();
  });
  return { client, received, aborted: aborted.promise };
}

async function answer(
  request: Http2ServerRequest,
  response: Http2ServerResponse,
  answers: Answers,
  received: Received[],
): Promise<void> {
  const body = JSON.parse(await text(request)) as Received["body"];
  received.push({ path: request.url, body });
  const next = answers[received.length - 1] ?? {
    status: 400,
    type: "ValidationException",
    body: { message: "no more" },
  };
  if (next === "hang") return;
  response.statusCode = next.status ?? 200;
  response.setHeader("content-type", "application/json");
  response.setHeader("x-amzn-requestid", `request-${received.length}`);
  if (next.type !== undefined) response.setHeader("x-amzn-errortype", next.type);
  for (const [name, value] of Object.entries(next.headers ?? {})) response.setHeader(name, value);
  response.end(typeof next.body === "string" ? next.body : JSON.stringify(next.body));
}

/** An answer with these blocks. */
export function converseAnswer(content: readonly unknown[], stopReason = "end_turn", usage: unknown = USAGE): Answer {
  return {
    body: { output: { message: { role: "assistant", content } }, stopReason, usage, metrics: { latencyMs: 5 } },
  };
}

const USAGE = { inputTokens: 100, outputTokens: 10, totalTokens: 110 };

export function throttled(headers: Readonly<Record<string, string>> = {}): Answer {
  return {
    status: 429,
    type: "ThrottlingException",
    body: { message: `Too many tokens for ${DUMMY_SECRET}` },
    headers,
  };
}
