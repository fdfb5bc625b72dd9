import { createOpenAI } from "@ai-sdk/openai";
import { data, finishOf, halves, USAGE, type WireFormat, type WireReply } from "./format.ts";

export const OPENAI_RESPONSES: WireFormat = {
  name: "OpenAI responses",
  hasTextArguments: true,
  model: (url) => createOpenAI({ baseURL: `${url}/v1`, apiKey: "sk-secret" }).responses("wire-model"),
  json: (reply) => ({
    id: "resp_1",
    object: "response",
    created_at: 1,
    model: "wire-model",
    ...endOf(reply),
    output: itemsOf(reply),
  }),
  events: (reply) => [
    event("response.created", { response: { id: "resp_1", created_at: 1, model: "wire-model" } }),
    ...itemsOf(reply).flatMap(eventsOf),
    event(finishOf(reply) === "length" || finishOf(reply) === "filter" ? "response.incomplete" : "response.completed", {
      response: { id: "resp_1", created_at: 1, model: "wire-model", ...endOf(reply) },
    }),
  ],
  error: (message) => ({ error: { message, type: "some_error", param: null, code: null } }),
};

type Item =
  | {
      readonly type: "message";
      readonly id: string;
      readonly content: readonly [{ readonly type: string; readonly text?: string; readonly refusal?: string }];
    }
  | {
      readonly type: "function_call";
      readonly id: string;
      readonly call_id: string;
      readonly name: string;
      readonly arguments: string;
    };

function itemsOf(reply: WireReply): readonly Item[] {
  const message = (content: { type: string; text?: string; refusal?: string }): Item =>
    ({ type: "message", id: "msg_1", role: "assistant", status: "completed", content: [content] }) as Item;
  return [
    ...(reply.text === undefined ? [] : [message({ type: "output_text", text: reply.text, annotations: [] } as never)]),
    ...(reply.refusal === undefined ? [] : [message({ type: "refusal", refusal: reply.refusal })]),
    ...(reply.calls ?? []).map(
      ({ id, name, args }): Item =>
        ({ type: "function_call", id: `fc_${id}`, call_id: id, name, arguments: args, status: "completed" }) as Item,
    ),
  ];
}

function eventsOf(item: Item, output_index: number): readonly string[] {
  const at = { output_index, item_id: item.id };
  if (item.type === "function_call") {
    return [
      event("response.output_item.added", { output_index, item: { ...item, arguments: "", status: "in_progress" } }),
      ...halves(item.arguments).map((delta) => event("response.function_call_arguments.delta", { ...at, delta })),
      event("response.output_item.done", { output_index, item }),
    ];
  }
  const [content] = item.content;
  const kind = content.refusal === undefined ? "output_text" : "refusal";
  return [
    event("response.output_item.added", { output_index, item: { ...item, content: [], status: "in_progress" } }),
    ...halves(content.refusal ?? content.text ?? "").map((delta) =>
      event(`response.${kind}.delta`, { ...at, content_index: 0, delta }),
    ),
    event("response.output_item.done", { output_index, item }),
  ];
}

function endOf(reply: WireReply): object {
  const { usage = USAGE } = reply;
  const finish = finishOf(reply);
  const reason = { length: "max_output_tokens", filter: "content_filter", stop: undefined, calls: undefined }[finish];
  return {
    status: reason === undefined ? "completed" : "incomplete",
    incomplete_details: reason === undefined ? null : { reason },
    usage: {
      input_tokens: usage.input,
      input_tokens_details: { cached_tokens: usage.cached },
      output_tokens: usage.output,
      output_tokens_details: { reasoning_tokens: 0 },
      total_tokens: usage.input + usage.output,
    },
  };
}

function event(type: string, fields: object): string {
  return data({ type, sequence_number: 1, ...fields }, type);
}
