import { describe, expect, it } from "vitest";
import {
  jsonProtocol,
  type ModelMessage,
  type ModelReply,
  scriptedTextModel,
  UNREADABLE_REPLY,
} from "../../src/model/index.ts";

const request = {
  system: "Be kind.",
  messages: [{ role: "user", text: "hello" }] as readonly ModelMessage[],
  tools: [{ name: "get_order", description: "Gets an order.", inputSchema: { type: "object" } }],
  replyTokensMax: 300,
  temperature: 0,
};

async function replyTo(text: string): Promise<ModelReply> {
  const { usage, ...reply } = await jsonProtocol(scriptedTextModel([text])).generate(request, {
    signal: new AbortController().signal,
  });
  expect(usage).toBeDefined();
  return reply;
}

const unreadable = { kind: "unreadable", problem: UNREADABLE_REPLY };

describe("jsonProtocol", () => {
  it("reads a call and a final answer, with blanks around them", async () => {
    expect(await replyTo('{"tool":"get_order","args":{"id":"O-1"}}')).toEqual({
      kind: "calls",
      text: "",
      calls: [{ tool: "get_order", args: { json: { id: "O-1" } } }],
    });
    expect(await replyTo(' \n{"final": "Done."}\n')).toEqual({ kind: "final", text: "Done." });
  });

  it("leaves wrong arguments to the schema check", async () => {
    expect(await replyTo('{"args":"O-1","tool":"x"}')).toMatchObject({ calls: [{ tool: "x", args: { json: "O-1" } }] });
  });

  it("says so in the words of the format", () => {
    expect(UNREADABLE_REPLY).toBe("Your reply was not one JSON object. Reply with JSON only.");
  });

  it.each([
    "",
    "Sure, I will.",
    '```json\n{"final":"x"}\n```',
    'Here: {"final":"x"}',
    '{"final":"x"} {"final":"y"}',
    '{"final":"x","tool":"get_order","args":{}}',
    '{"final":"x","mood":"good"}',
    '{"tool":"get_order"}',
    '{"tool":"get_order","args":{},"why":"because"}',
    '{"args":{}}',
    '{"tool":7,"args":{}}',
    '{"final":7}',
    '{"final":null}',
    "{}",
    "[]",
    '[{"final":"x"}]',
    '"final"',
    '{"final":"x"',
  ])("takes %j for unreadable", async (text) => {
    expect(await replyTo(text)).toEqual(unreadable);
  });

  it("json-01: takes a call with a doubled key for unreadable, and never picks one of the two", async () => {
    expect(await replyTo('{"tool":"refund","args":{"cents":500,"cents":500000}}')).toEqual(unreadable);
    expect(await replyTo('{"tool":"get_order","tool":"refund","args":{}}')).toEqual(unreadable);
    expect(await replyTo('{"tool":"refund","args":{"cents":1e400}}')).toEqual(unreadable);
  });

  it("tells the model the format, the tools and the whole conversation", async () => {
    const text = scriptedTextModel(['{"final":"x"}']);
    const messages: readonly ModelMessage[] = [
      { role: "user", text: "hello" },
      { role: "assistant", text: "", calls: [{ callId: "c1", tool: "get_order", args: { id: "O-1" } }] },
      { role: "tool", callId: "c1", tool: "get_order", text: '{"status":"placed"}', isError: false },
      { role: "harness", text: UNREADABLE_REPLY },
      { role: "assistant", text: "Done.", calls: [] },
    ];
    await jsonProtocol(text).generate({ ...request, messages }, { signal: new AbortController().signal });
    const [sent] = text.requests;
    expect(sent?.messages).toEqual([
      { role: "user", text: "hello" },
      { role: "assistant", text: '{"tool":"get_order","args":{"id":"O-1"}}' },
      { role: "user", text: 'Result of get_order: {"status":"placed"}' },
      { role: "user", text: UNREADABLE_REPLY },
      { role: "assistant", text: '{"final":"Done."}' },
    ]);
    expect(sent?.system.startsWith("Be kind.\n\n")).toBe(true);
    expect(sent?.system).toContain('- get_order: Gets an order. Arguments as JSON Schema: {"type":"object"}');
    expect(sent).toMatchObject({ replyTokensMax: 300, temperature: 0 });
  });

  it("streams the answer, never the JSON around it", async () => {
    const pieces: string[] = [];
    const options = { signal: new AbortController().signal, onDelta: (text: string) => pieces.push(text) };
    const model = jsonProtocol(scriptedTextModel(['{"tool":"x","args":{}}', '{"final":"Done."}']));
    await model.generate(request, options);
    await model.generate(request, options);
    expect(pieces).toEqual(["Done."]);
  });

  it("keeps id, usage and failures of the model as they are", async () => {
    const usage = { inputTokens: 7 };
    const signal = new AbortController().signal;
    const model = jsonProtocol({ id: "m1", complete: async () => ({ text: '{"final":"x"}', usage }) });
    expect(model.id).toBe("m1");
    expect(await model.generate(request, { signal })).toEqual({ kind: "final", text: "x", usage });
    const silent = jsonProtocol({ id: "m2", complete: async () => ({ text: undefined as never }) });
    expect(await silent.generate(request, { signal })).toEqual(unreadable);
    const failing = jsonProtocol({ id: "m3", complete: () => Promise.reject(new Error("down")) });
    await expect(failing.generate(request, { signal })).rejects.toThrow("down");
  });
});
