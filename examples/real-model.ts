/**
 * An agent with a real model over HTTP, through the AI SDK. Without flags the "provider" is a small server in this
 * process, so nothing outside is contacted and the result can be checked.
 *
 *   node examples/real-model.ts
 *   node examples/real-model.ts --base-url http://127.0.0.1:11434/v1 --model llama3.2
 *   MODEL_API_KEY=… node examples/real-model.ts --base-url https://… --model … --allow-network
 */
import assert from "node:assert/strict";
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { parseArgs } from "node:util";
import { createOpenAICompatible } from "@ai-sdk/openai-compatible";
import { allow, createHarness, defineAgent, defineTool } from "belay-harness";
import { aiSdkModel } from "belay-harness/ai-sdk";
import { createMemoryStore, verifyStoreAudit } from "belay-harness/store";
import { z } from "zod";

const { values: flags } = parseArgs({
  options: {
    "base-url": { type: "string" },
    model: { type: "string" },
    "allow-network": { type: "boolean", default: false },
  },
});

const lookUp = defineTool({
  name: "order_status",
  description: "Status of one order",
  level: "read",
  recovery: "read",
  input: z.strictObject({ order: z.string() }),
  execute: ({ order }) => ({ order, status: order === "A-1" ? "shipped" : "unknown" }),
});

const agent = defineAgent({
  name: "desk",
  revision: "1",
  instructions: "Answer in one sentence. Look orders up with the tool.",
  tools: [lookUp],
  rules: [{ id: "reads", decide: () => allow("OK", "reads are harmless") }],
  limits: { stepsMax: 4, replyTokensMax: 256 },
});

interface ChatRequest {
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

/** What a server in the wire format of OpenAI answers: first a call, and then what the tool said. */
function completionOf({ messages }: ChatRequest): unknown {
  const last = messages.at(-1);
  const call = { id: "call_1", type: "function", function: { name: "order_status", arguments: '{"order":"A-1"}' } };
  const message =
    last?.role === "tool"
      ? { role: "assistant", content: `The tool says ${String(last.content)}` }
      : { role: "assistant", content: null, tool_calls: [call] };
  return {
    id: "chatcmpl-1",
    object: "chat.completion",
    created: 1,
    model: "local",
    choices: [{ index: 0, message, finish_reason: last?.role === "tool" ? "stop" : "tool_calls" }],
    usage: { prompt_tokens: 50, completion_tokens: 10, total_tokens: 60 },
  };
}

/** Serves `completionOf` on a port of this machine. */
async function serveLocally() {
  const server = createServer(async (request, response) => {
    let body = "";
    for await (const chunk of request.setEncoding("utf8")) body += String(chunk);
    const completion = completionOf(JSON.parse(body) as ChatRequest);
    response.writeHead(200, { "content-type": "application/json" }).end(JSON.stringify(completion));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/v1`, close: () => server.close() };
}

const isLocal = flags["base-url"] === undefined;
const served = isLocal ? await serveLocally() : undefined;
const baseURL = new URL(flags["base-url"] ?? served?.url ?? "");
if (!["127.0.0.1", "localhost", "[::1]"].includes(baseURL.hostname) && !flags["allow-network"]) {
  process.stderr.write(`${baseURL.host} is another machine; add --allow-network to contact it.\n`);
  process.exit(2);
}
const apiKey = process.env["MODEL_API_KEY"];
const provider = createOpenAICompatible({ name: "example", baseURL: baseURL.href, ...(apiKey && { apiKey }) });
const store = createMemoryStore();
const harness = createHarness({ agent, model: aiSdkModel(provider(flags.model ?? "local")), store });
const result = await harness.run("Where is my order A-1?").result;
served?.close();

assert.equal(result.status, "done", result.label);
assert.equal((await verifyStoreAudit(store)).ok, true);
if (isLocal) {
  assert.deepEqual(
    result.calls.map(({ call, outcome }) => [call.tool, outcome?.status]),
    [["order_status", "ok"]],
  );
  assert.match(result.answer ?? "", /shipped/);
  assert.equal(result.usage.inputTokens + result.usage.outputTokens, 120);
}
process.stdout.write(`${result.usage.modelCalls} model calls. ${result.answer}\n`);
