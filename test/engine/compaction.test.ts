import { describe, expect, it } from "vitest";
import { z } from "zod";
import { compaction } from "../../src/context/index.ts";
import { type AnyTool, defineTool, type ModelClient } from "../../src/index.ts";
import { calls, final, world } from "./support.ts";

const look = (untrusted = false): AnyTool =>
  defineTool({
    name: "look",
    description: "",
    level: "read",
    recovery: "read",
    untrusted,
    input: z.strictObject({ q: z.string() }),
    execute: ({ q }) => ({ first: `${q} is first`, filler: "x".repeat(2000), last: `${q} is last` }),
  });

const turns = [calls(["look", { q: "a" }]), calls(["look", { q: "b" }]), calls(["look", { q: "c" }]), final("ok")];
const texts = (setup: ReturnType<typeof world>, request: number) =>
  setup.model.requests[request]?.messages.flatMap((message) => (message.role === "tool" ? [message.text] : [])) ?? [];

describe("compaction", () => {
  it("replaces older results by their first 160 characters and keeps the last turns verbatim", async () => {
    const setup = world(turns, {
      tools: () => [look()],
      agent: { compaction: compaction({ tokenThreshold: 600, keepTurns: 1 }) },
    });
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    const [first, second] = texts(setup, 2);
    expect(first).toContain('{"filler":"x');
    expect(first?.length).toBeLessThan(260);
    expect(second).toContain("b is last");
    const compactions = result.state.compactions;
    expect(compactions.map(({ step, results }) => [step, results])).toEqual([
      [3, 1],
      [4, 1],
    ]);
    for (const { tokensBefore, tokensAfter } of compactions) {
      expect(tokensBefore).toBeGreaterThan(600);
      expect(tokensAfter).toBeLessThan(tokensBefore);
    }
    const [event] = (await setup.harness.entries(result))
      .filter(({ event }) => event.type === "model.requested")
      .slice(2);
    expect(event?.event).toMatchObject({ reserved: { inputTokens: compactions[0]?.tokensAfter } });
  });

  it("takes no call from its result, whatever is kept", async () => {
    for (const keepTurns of [0, 1, 2, 3, 9]) {
      const setup = world(turns, {
        tools: () => [look()],
        agent: { compaction: compaction({ tokenThreshold: 1, keepTurns }) },
      });
      await setup.harness.run("go").result;
      for (const { messages } of setup.model.requests) {
        const asked = messages.flatMap((message) =>
          message.role === "assistant" ? message.calls.map((c) => c.callId) : [],
        );
        const answered = messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
        expect(answered).toEqual(asked);
      }
    }
  });

  it("leaves small results and small prompts alone", async () => {
    const setup = world([calls(["search", { q: "a" }]), calls(["search", { q: "b" }]), final("ok")], {
      agent: { compaction: compaction({ tokenThreshold: 1, keepTurns: 0 }) },
    });
    expect((await setup.harness.run("go").result).state.compactions).toEqual([]);
    const large = world(turns, {
      tools: () => [look()],
      agent: { compaction: compaction({ tokenThreshold: 100_000 }) },
    });
    expect((await large.harness.run("go").result).state.compactions).toEqual([]);
  });

  it("keeps the words of outsiders in their wrapper", async () => {
    const setup = world(turns, {
      tools: () => [look(true)],
      agent: { compaction: compaction({ tokenThreshold: 600, keepTurns: 1 }) },
    });
    await setup.harness.run("go").result;
    expect(texts(setup, 3)[0]).toMatch(/^<untrusted source="look">\[summarised by harness.*<\/untrusted>$/s);
  });

  it("asks a model for the summary without giving it tools, and pays for it", async () => {
    const seen: unknown[] = [];
    const model: ModelClient = {
      id: "small",
      generate: async (request) => {
        seen.push(request.tools, request.messages[0]);
        return { kind: "final", text: "a was found", usage: { inputTokens: 7, outputTokens: 3 } };
      },
    };
    const setup = world(turns, {
      tools: () => [look()],
      agent: { compaction: compaction({ tokenThreshold: 600, keepTurns: 1, model }) },
      options: { prices: { small: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } } },
    });
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    expect(seen[0]).toEqual([]);
    expect(JSON.stringify(seen[1])).toContain("a is last");
    expect(texts(setup, 2)[0]).toBe("[summarised by a model] a was found");
    const [event] = (await setup.harness.entries(result)).filter(({ event }) => event.type === "context.compacted");
    expect(event?.event).toMatchObject({ usage: { inputTokens: 7, outputTokens: 3 }, costNanoUsd: 10_000 });
  });

  it("keeps the head of a result when the summarising model fails", async () => {
    const model: ModelClient = { id: "small", generate: () => Promise.reject(new Error("password=hunter2")) };
    const setup = world(turns, {
      tools: () => [look()],
      agent: { compaction: compaction({ tokenThreshold: 600, keepTurns: 1, model }) },
    });
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    expect(texts(setup, 2)[0]).toContain("[summarised by harness");
    expect(JSON.stringify(await setup.harness.entries(result))).not.toContain("hunter2");
  });
});
