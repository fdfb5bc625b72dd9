import { describe, expect, it } from "vitest";
import { stockroomAgent } from "../../../apps/stockroom/agent.ts";
import { bannerLines, stockroomConfig } from "../../../apps/stockroom/config.ts";
import { createStockroomApp } from "../../../apps/stockroom/create-app.ts";
import { label, TERMINATION_REASONS } from "../../../apps/stockroom/labels.ts";
import { openStockroomWorld } from "../../../apps/stockroom/world/stockroom-world.ts";

describe("stockroomConfig", () => {
  it("has the published defaults", () => {
    const { replace: _, ...settings } = stockroomConfig();
    expect(settings).toEqual({
      mode: "mock",
      region: "us-east-1",
      tools: "local",
      tracing: "memory",
      weaknesses: [],
      maxSteps: 8,
      tokenBudget: 20_000,
      maxTokens: 1024,
      repeatCallWindow: 3,
      wallClockTimeoutS: 60,
      compactionTokenThreshold: 6000,
      compactionKeepTurns: 4,
      dataDir: "",
      confirmAwsSpend: false,
    });
  });

  it("introduces itself in two lines", () => {
    expect(bannerLines(stockroomConfig())).toEqual([
      "[stockroom] running in MOCK mode (STOCKROOM_MODE=mock)",
      "[stockroom] mode=mock agent=FakeBedrockClient judge=FakeJudge region=us-east-1 tools=local tracing=memory " +
        "weaknesses=none max_steps=8 token_budget=20000",
    ]);
    const [first, second] = bannerLines(stockroomConfig({ mode: "live", weaknesses: ["naive_retry"] }));
    expect(first).toBe("[stockroom] running in LIVE mode (STOCKROOM_MODE=live)");
    expect(second).toContain("weaknesses=naive_retry");
  });

  it("gives a changed and checked copy", () => {
    const config = stockroomConfig({ maxSteps: 4 });
    const changed = config.replace({ tokenBudget: 5000 });
    expect([changed.maxSteps, changed.tokenBudget, config.tokenBudget]).toEqual([4, 5000, 20_000]);
    expect(() => changed.replace({ maxTokens: 5000 })).toThrow(/TOKEN_BUDGET 5000 must be larger than MAX_TOKENS 5000/);
  });

  it("reads the environment, and what is given wins", () => {
    const environment = {
      STOCKROOM_MODE: "live",
      STOCKROOM_WEAKNESSES: "oversized_payload, ambiguous_tool_desc,",
      STOCKROOM_CONFIRM_AWS_SPEND: "1",
      TOKEN_BUDGET: "9000",
      MAX_TOKENS: "512",
      REPEAT_CALL_WINDOW: "5",
    };
    expect(stockroomConfig({ maxTokens: 256 }, environment)).toMatchObject({
      mode: "live",
      weaknesses: ["ambiguous_tool_desc", "oversized_payload"],
      confirmAwsSpend: true,
      tokenBudget: 9000,
      maxTokens: 256,
      repeatCallWindow: 5,
    });
    expect(stockroomConfig({}, { STOCKROOM_WEAKNESSES: "none", TOKEN_BUDGET: "" })).toMatchObject({
      weaknesses: [],
      tokenBudget: 20_000,
    });
  });

  it.each([
    ["a budget that no call fits", { tokenBudget: 1024 }, /TOKEN_BUDGET 1024 must be larger than MAX_TOKENS 1024/],
    ["an unknown mode", { mode: "dry" as "mock" }, /mode is "dry"; use one of mock, live/],
    ["a step limit of none", { maxSteps: 0 }, /maxSteps is 0; use a whole number from 1/],
    ["a window that is no number", { repeatCallWindow: Number.NaN }, /repeatCallWindow is NaN/],
    ["no time at all", { wallClockTimeoutS: 0 }, /wallClockTimeoutS is 0/],
  ])("refuses %s", (_, change, message) => {
    expect(() => stockroomConfig(change)).toThrow(expect.objectContaining({ code: "BELAY_CONFIG_INVALID" }));
    expect(() => stockroomConfig(change)).toThrow(message);
  });

  it("refuses a number that is none", () => {
    expect(() => stockroomConfig({}, { MAX_TOKENS: "many" })).toThrow(/MAX_TOKENS is "many"; use a number/);
  });

  it("refuses a weakness that it does not have, and names those that it has", () => {
    const unknown = expect.objectContaining({
      code: "BELAY_WEAKNESS_UNKNOWN",
      message: expect.stringMatching(
        /"lazy".*ambiguous_tool_desc, oversized_payload, naive_retry, injection_unguarded/,
      ),
    });
    expect(() => stockroomConfig({}, { STOCKROOM_WEAKNESSES: "naive_retry,lazy" })).toThrow(unknown);
    expect(() => createStockroomApp().configure?.({ weaknesses: "lazy" })).toThrow(unknown);
    expect(() => createStockroomApp().configure?.({ colour: "red" })).toThrow(/no setting "colour"/);
  });
});

describe("the agent of a configuration", () => {
  const world = openStockroomWorld(":memory:");
  const agentOf = (change: Parameters<typeof stockroomConfig>[0]) =>
    stockroomAgent(world, { config: stockroomConfig(change) });

  it("has the limits of the configuration, and no limit on cycles", () => {
    expect(agentOf({ maxSteps: 4, tokenBudget: 5000, wallClockTimeoutS: 5, repeatCallWindow: 9 }).limits).toMatchObject(
      {
        stepsMax: 4,
        tokensMax: 5000,
        replyTokensMax: 1024,
        wallClockMs: 5000,
        identicalCalls: { max: 9, scope: "consecutive" },
        cycles: "off",
      },
    );
  });

  it("has no limit on repeated calls under naive_retry, and no quarantine under injection_unguarded", () => {
    const weak = agentOf({ weaknesses: ["naive_retry", "injection_unguarded"] });
    expect(weak.limits?.identicalCalls).toBe("off");
    const filters = (agent: typeof weak) => agent.filters?.map(({ id }) => id);
    expect(filters(weak)).not.toContain("quarantine");
    expect(filters(agentOf({}))).toContain("quarantine");
  });

  it("names every end of a run", () => {
    const limit = (name: "max_steps" | "wall_clock" | "invalid_calls") =>
      label({ kind: "limit", limit: name, detail: "" });
    expect([limit("max_steps"), limit("wall_clock"), limit("invalid_calls")]).toEqual([
      "MAX_STEPS",
      "TIMEOUT",
      "INVALID_TOOL_CALLS",
    ]);
    expect(label({ kind: "completed" })).toBe("COMPLETED");
    expect(label({ kind: "cancelled", by: "dana" })).toBe("cancelled");
    expect(TERMINATION_REASONS).toHaveLength(7);
  });
});
