import { expect, it } from "vitest";
import { pacedModel } from "../../src/cli/paced-model.ts";
import type { ModelReply } from "../../src/index.ts";
import { calls, final } from "../engine/support.ts";

const REQUEST = { system: "", messages: [], tools: [], replyTokensMax: 1, temperature: 0 };
const inner = (reply: ModelReply) => ({ id: "offline", generate: async () => reply });

it("writes an answer word by word while it is told to, and gives the same reply", async () => {
  let isPaced = false;
  const reply = final("It is  on\nits way.");
  const model = pacedModel(inner(reply), () => isPaced);
  const pieces: string[] = [];
  const options = { signal: new AbortController().signal, onDelta: (text: string) => pieces.push(text) };
  expect(await model.generate(REQUEST, options)).toBe(reply);
  expect(pieces).toEqual([]);
  isPaced = true;
  expect(await model.generate(REQUEST, options)).toBe(reply);
  expect(pieces).toEqual(["It", " is", "  on", "\nits", " way."]);
  expect(pieces.join("")).toBe("It is  on\nits way.");
  expect(await pacedModel(inner(calls(["x", {}])), () => true).generate(REQUEST, options)).toMatchObject({
    kind: "calls",
  });
  expect(pieces).toHaveLength(5);
});

it("stops in the middle when it is told to", async () => {
  const stop = new AbortController();
  const model = pacedModel(inner(final("one two three")), () => true);
  const pieces: string[] = [];
  const writing = model.generate(REQUEST, {
    signal: stop.signal,
    onDelta: (text) => {
      pieces.push(text);
      stop.abort();
    },
  });
  await expect(writing).rejects.toThrow();
  expect(pieces).toEqual(["one"]);
});
