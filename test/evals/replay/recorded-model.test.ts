import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it, onTestFinished } from "vitest";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import type { AnyApp } from "../../../src/config.ts";
import { runSuite } from "../../../src/evals/index.ts";
import { recordingModel, replayModel, requestHash } from "../../../src/evals/replay/index.ts";
import { type ModelClient, type ModelReply, type ModelRequest, scriptedModel } from "../../../src/model/index.ts";

const signal = AbortSignal.timeout(600_000);
const request: ModelRequest = {
  system: "Be brief.",
  messages: [
    { role: "user", text: "how many?" },
    { role: "assistant", text: "", calls: [{ callId: "call_a7", tool: "count", args: { of: "cups" } }] },
    { role: "tool", callId: "call_a7", tool: "count", text: "3", isError: false },
  ],
  tools: [{ name: "count", description: "Counts", inputSchema: { type: "object" } }],
  replyTokensMax: 100,
  temperature: 0,
};
const final: ModelReply = { kind: "final", text: "Three.", usage: { inputTokens: 9, outputTokens: 2 } };

function makeFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "belay-recordings-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}

async function recorded(reply: ModelReply = final): Promise<string> {
  const folder = makeFolder();
  await recordingModel(scriptedModel([reply], { id: "m-1" }), folder).generate(request, { signal });
  return folder;
}

it("keeps what a provider counts of its cache, and what it wants back with a message", async () => {
  const reply = {
    kind: "calls",
    text: "",
    calls: [{ tool: "count", args: { json: { of: "cups" } } }],
    usage: { inputTokens: 9, outputTokens: 2, cacheReadTokens: 4, cacheWriteTokens: 1, reasoningTokens: 1 },
    providerData: { parts: [{ type: "reasoning", text: "hm" }] },
  } as const;
  expect(await replayModel(await recorded(reply)).generate(request, { signal })).toEqual(reply);
  const [user, assistant, tool] = request.messages;
  const signed = { ...request, messages: [user, { ...assistant, providerData: reply.providerData }, tool] };
  expect(requestHash("m-1", signed as ModelRequest)).not.toBe(requestHash("m-1", request));
});

describe("requestHash", () => {
  it("does not see the ids that a run gives its calls, and sees everything else", () => {
    const text = JSON.stringify(request);
    const same = JSON.parse(text.replaceAll("call_a7", "call_other")) as ModelRequest;
    expect(requestHash("m-1", same)).toBe(requestHash("m-1", request));
    const others: ModelRequest[] = [
      { ...request, system: "Be long." },
      { ...request, temperature: 1 },
      { ...request, replyTokensMax: 99 },
      { ...request, tools: [] },
      { ...request, messages: request.messages.slice(0, 2) },
      JSON.parse(text.replace('"3"', '"4"')) as ModelRequest,
    ];
    const hashes = [
      requestHash("m-1", request),
      requestHash("m-2", request),
      ...others.map((other) => requestHash("m-1", other)),
    ];
    expect(new Set(hashes).size).toBe(hashes.length);
  });

  it("tells calls apart that answer each other's results", () => {
    const two = (first: string, second: string): ModelRequest => ({
      ...request,
      messages: [
        {
          role: "assistant",
          text: "",
          calls: [
            { callId: "x", tool: "count", args: {} },
            { callId: "y", tool: "count", args: {} },
          ],
        },
        { role: "tool", callId: first, tool: "count", text: "1", isError: false },
        { role: "tool", callId: second, tool: "count", text: "2", isError: false },
      ],
    });
    expect(requestHash("m", two("x", "y"))).not.toBe(requestHash("m", two("y", "x")));
  });
});

describe("recordingModel and replayModel", () => {
  it("give back what was said, also as it streams", async () => {
    const folder = await recorded();
    const pieces: string[] = [];
    const model = replayModel(folder);
    expect(model.id).toBe("m-1");
    expect(await model.generate(request, { signal, onDelta: (text) => pieces.push(text) })).toEqual(final);
    expect(pieces).toEqual(["Three."]);
  });

  it("give back every reply that JSON can hold", async () => {
    await fc.assert(
      fc.asyncProperty(
        fc.string({ unit: "grapheme" }),
        fc.jsonValue({ noUnicodeString: false }),
        async (text, value) => {
          const json = JSON.parse(JSON.stringify(value)) as unknown;
          const reply: ModelReply = {
            kind: "calls",
            text: text.toWellFormed(),
            calls: [
              { tool: "count", args: { text: '{"of": ' } },
              { tool: "count", args: { json } },
            ],
            usage: {},
          };
          const folder = mkdtempSync(join(tmpdir(), "belay-recordings-"));
          try {
            await recordingModel({ id: "m-1", generate: async () => reply }, folder).generate(request, { signal });
            expect(await replayModel(folder).generate(request, { signal })).toEqual(reply);
          } finally {
            rmSync(folder, { recursive: true, force: true });
          }
        },
      ),
      { numRuns: 30 },
    );
  });

  it("fail in strict mode on what nobody recorded, and ask the fallback otherwise and keep its reply", async () => {
    const folder = await recorded();
    const other = { ...request, system: "Be kind." };
    const fallback = scriptedModel([{ kind: "final", text: "Kindly, three." }], { id: "m-1" });
    await expect(replayModel(folder).generate(other, { signal })).rejects.toMatchObject({
      code: "BELAY_RECORDING_MISSING",
    });
    await expect(replayModel(folder, { strict: true, fallback }).generate(other, { signal })).rejects.toMatchObject({
      code: "BELAY_RECORDING_MISSING",
    });
    expect(fallback.requests).toEqual([]);
    const loose = replayModel(folder, { strict: false, fallback });
    expect(await loose.generate(other, { signal })).toMatchObject({ text: "Kindly, three." });
    expect(await replayModel(folder).generate(other, { signal })).toMatchObject({ text: "Kindly, three." });
    expect(fallback.requests).toHaveLength(1);
  });

  it("refuse an empty folder, two models in one, and a loose replay without a model", async () => {
    expect(() => replayModel(makeFolder())).toThrow(expect.objectContaining({ code: "BELAY_RECORDING_MISSING" }));
    expect(() => replayModel("/nowhere", { strict: false })).toThrow(
      expect.objectContaining({ code: "BELAY_RECORDING_INVALID" }),
    );
    const folder = await recorded();
    await recordingModel(scriptedModel([final], { id: "m-2" }), folder).generate(request, { signal });
    expect(() => replayModel(folder)).toThrow(/m-1 and m-2/);
  });

  it.each([
    ["another reply's shape", (text: string) => text.replace('"final"', '"finally"')],
    ["another request", (text: string) => text.replace("Be brief.", "Be brave.")],
    ["half a file", (text: string) => text.slice(0, 90)],
    ["another model", (text: string) => text.replace('"m-1"', '"m-2"')],
    ["a negative number of tokens", (text: string) => text.replace('"inputTokens": 9', '"inputTokens": -9')],
  ])("refuse a file with %s", async (_, change) => {
    const folder = await recorded();
    const [name = ""] = readdirSync(folder);
    const model = replayModel(folder);
    const file = join(folder, name);
    const text = readFileSync(file, "utf8");
    expect(change(text)).not.toBe(text);
    writeFileSync(file, change(text));
    await expect(model.generate(request, { signal })).rejects.toMatchObject({ code: "BELAY_RECORDING_INVALID" });
  });

  it("record no failed call, and refuse a reply that JSON cannot hold", async () => {
    const folder = makeFolder();
    const down: ModelClient = { id: "m-1", generate: () => Promise.reject(new Error("down")) };
    await expect(recordingModel(down, folder).generate(request, { signal })).rejects.toThrow("down");
    const odd: ModelReply = { kind: "calls", text: "", calls: [{ tool: "count", args: { json: { n: Number.NaN } } }] };
    const model = recordingModel({ id: "m-1", generate: async () => odd }, folder);
    await expect(model.generate(request, { signal })).rejects.toMatchObject({ code: "BELAY_RECORDING_INVALID" });
    expect(readdirSync(folder)).toEqual([]);
  });

  it("leave no half-written file behind", async () => {
    const folder = await recorded();
    expect(readdirSync(folder).every((name) => /^[0-9a-f]{64}\.json$/.test(name))).toBe(true);
  });

  it("run the golden cases a second time without the model", { timeout: 60_000 }, async () => {
    const folder = makeFolder();
    const stockroom: AnyApp = createStockroomApp();
    const only = ["G007", "G033", "G041", "G049"];
    const withModel = (wrap: (model: ModelClient) => ModelClient): AnyApp => ({
      ...stockroom,
      offlineModel: (world) => wrap(stockroom.offlineModel(world)),
    });
    const first = await runSuite(
      withModel((model) => recordingModel(model, folder)),
      "reference",
      { only },
    );
    const second = await runSuite(
      withModel(() => replayModel(folder)),
      "reference",
      { only },
    );
    expect(second.cases.map(({ passed, answer, usage }) => [passed, answer, usage])).toEqual(
      first.cases.map(({ answer, usage }) => [true, answer, usage]),
    );
  });
});
