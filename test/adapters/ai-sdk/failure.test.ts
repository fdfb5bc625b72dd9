import type { LanguageModelV4 } from "@ai-sdk/provider";
import { MockLanguageModelV4 } from "ai/test";
import { describe, expect, it } from "vitest";
import { aiSdkModel } from "../../../src/adapters/ai-sdk/index.ts";
import { REQUEST } from "./wire/index.ts";

const signal = new AbortController().signal;

describe("a failed call", () => {
  const failing = (error: unknown): { model: LanguageModelV4; count(): number } => {
    let count = 0;
    const model = new MockLanguageModelV4({
      doGenerate: async () => {
        count += 1;
        throw error;
      },
    });
    return { model, count: () => count };
  };
  const retry = { wait: async () => undefined };

  it.each([
    [{ name: "AI_LoadAPIKeyError" }, 1, "BELAY_MODEL_AUTH"],
    [{ name: "AI_UnsupportedFunctionalityError" }, 1, "BELAY_MODEL_REFUSED"],
    [{ name: "AI_TypeValidationError" }, 1, "BELAY_MODEL_BAD_REPLY"],
    [{ statusCode: 200, cause: { name: "SyntaxError" } }, 1, "BELAY_MODEL_BAD_REPLY"],
    [{ statusCode: 200, cause: { cause: { code: "UND_ERR_SOCKET" } } }, 4, "BELAY_MODEL_UNAVAILABLE"],
    [{ cause: { code: "ECONNREFUSED" } }, 4, "BELAY_MODEL_UNAVAILABLE"],
    [{ isRetryable: true }, 4, "BELAY_MODEL_UNAVAILABLE"],
    [{ statusCode: 529 }, 4, "BELAY_MODEL_UNAVAILABLE"],
    [{ statusCode: 429, responseHeaders: { "retry-after-ms": "20001" } }, 1, "BELAY_MODEL_THROTTLED"],
    [{ statusCode: 429, responseHeaders: { "retry-after": "soon" } }, 4, "BELAY_MODEL_THROTTLED"],
    [{ statusCode: 9999 }, 1, "BELAY_MODEL_UNAVAILABLE"],
    [new Error("sk-secret"), 1, "BELAY_MODEL_UNAVAILABLE"],
    ["sk-secret", 1, "BELAY_MODEL_UNAVAILABLE"],
    [null, 1, "BELAY_MODEL_UNAVAILABLE"],
  ])("%j is asked %i times and is then %s", async (error, count, code) => {
    const attempt = failing(error);
    await expect(aiSdkModel(attempt.model, { retry }).generate(REQUEST, { signal })).rejects.toMatchObject({
      code,
      message: expect.not.stringContaining("sk-secret"),
    });
    expect(attempt.count()).toBe(count);
  });

  it("is given up when the signal aborts, also for a model that does not listen", async () => {
    const stop = new AbortController();
    const deaf = new MockLanguageModelV4({ doGenerate: () => new Promise(() => undefined) });
    const asked = aiSdkModel(deaf).generate(REQUEST, { signal: stop.signal });
    stop.abort(new Error("enough"));
    await expect(asked).rejects.toThrow("enough");
  });

  it("is not repeated after the signal aborts while it waits", async () => {
    const stop = new AbortController();
    const attempt = failing({ statusCode: 503 });
    const asked = aiSdkModel(attempt.model, { retry: { delayMs: 600_000, delayMaxMs: 600_000, random: () => 0.99 } });
    const reply = asked.generate(REQUEST, { signal: stop.signal });
    setTimeout(() => stop.abort(new Error("enough")), 10);
    await expect(reply).rejects.toThrow("enough");
    expect(attempt.count()).toBe(1);
    await expect(asked.generate(REQUEST, { signal: stop.signal })).rejects.toThrow("enough");
    expect(attempt.count()).toBe(1);
  });
});
