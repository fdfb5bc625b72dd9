import { describe, expect, it } from "vitest";
import { createInProcessWaker } from "../../src/engine/in-process-waker.ts";
import { BelayError, createHarness, type HarnessOptions, type ModelClient, type ModelReply } from "../../src/index.ts";
import { calls, final, manualClock, type World, world } from "./support.ts";

const throttled = (retryAfterMs?: number) =>
  Object.assign(new Error("slow down, key sk-secret"), { status: 429, retryAfterMs });
const away = () => new BelayError("BELAY_MODEL_UNAVAILABLE", "the provider is not there");

/** A model that throws and replies in this order. */
function failing(...answers: readonly (ModelReply | Error)[]): ModelClient & { readonly asked: () => number } {
  let asked = 0;
  return {
    id: "failing",
    asked: () => asked,
    generate: async () => {
      const answer = answers[asked] ?? new Error("asked too often");
      asked += 1;
      if (answer instanceof Error) throw answer;
      return answer;
    },
  };
}

const FAST = { delayMs: 1 };
const setUp = (model: ModelClient, options: Partial<HarnessOptions> = {}, agent = {}): World =>
  world([], { options: { model, clock: { now: () => Date.now() }, modelRetry: FAST, ...options }, agent });
const failures = async ({ harness }: World, runId = "r") =>
  (await harness.entries({ tenant: "default", runId })).flatMap(({ at, event }) =>
    event.type === "model.failed" ? [{ at, ...event }] : [],
  );

describe("a model that is throttled or away", () => {
  it("is asked again, and neither step nor charge comes of what the provider refused", async () => {
    const model = failing(throttled(), throttled(), calls(["search", { q: "a" }]), throttled(), final("ok"));
    const setup = setUp(model, {}, { limits: { stepsMax: 2, tokensMax: 100_000 } });
    const result = await setup.harness.run("go", { runId: "r" }).result;
    expect([result.status, result.answer, model.asked()]).toEqual(["done", "ok", 5]);
    expect(result.usage.estimated).toBe(true);
    const failed = await failures(setup);
    expect(failed.map(({ code, notCharged, retryAt }) => [code, notCharged, typeof retryAt])).toEqual(
      Array.from({ length: 3 }, () => ["BELAY_MODEL_THROTTLED", true, "number"]),
    );
    expect(JSON.stringify(failed)).not.toContain("sk-secret");
  });

  it("charges what may have been done before a failure", async () => {
    const cost = async (error: Error) => {
      const usage = { inputTokens: 1, outputTokens: 1 };
      const setup = setUp(failing(error, { kind: "final", text: "ok", usage }));
      return (await setup.harness.run("go").result).usage.outputTokens;
    };
    expect(await cost(throttled())).toBe(1);
    expect(await cost(Object.assign(new Error("x"), { statusCode: 503 }))).toBeGreaterThan(1000);
  });

  it("gives its shared budget back when it was refused, and holds it to the reservation otherwise", async () => {
    const prices = { failing: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } };
    const used = async (error: Error) => {
      const setup = setUp(failing(error), { prices, budgets: { team: 1e9 }, modelRetry: { attemptsMax: 1 } });
      await setup.harness.run("go").result;
      return setup.options.store.budget("default", "team");
    };
    expect(await used(throttled())).toMatchObject({ used: 0, reserved: 0 });
    const { used: charged, reserved } = await used(Object.assign(new Error("x"), { statusCode: 500 }));
    expect([charged > 0, reserved]).toEqual([true, 0]);
  });

  it("ends the run after its attempts, each time in a row, and at once for what no repetition mends", async () => {
    const errors = Array.from({ length: 9 }, () => throttled());
    const model = failing(...errors);
    const setup = setUp(model);
    const result = await setup.harness.run("go", { runId: "r" }).result;
    expect([result.label, model.asked()]).toEqual(["model_error", 4]);
    expect(result.termination).toMatchObject({ code: "BELAY_MODEL_THROTTLED" });
    expect((await failures(setup)).map(({ retryAt }) => retryAt === undefined)).toEqual([false, false, false, true]);
    for (const error of [new Error("a bug"), new BelayError("BELAY_MODEL_AUTH", "no key")]) {
      const once = failing(error);
      expect((await setUp(once).harness.run("go").result).status).toBe("failed");
      expect(once.asked()).toBe(1);
    }
  });

  it("does not hold the process for a long wait: a wake comes, also to another process", async () => {
    const clock = manualClock();
    const wakes: { why: string; notBefore?: number }[] = [];
    const waker = createInProcessWaker({ clock });
    const watched = { ...waker, wake: async (wake: Parameters<typeof waker.wake>[0]) => void wakes.push(wake) };
    const model = failing(throttled(90_000), final("ok"));
    const setup = setUp(model, { clock, waker: watched });
    const waiting = await setup.harness.run("go", { runId: "r" }).result;
    expect([waiting.status, model.asked()]).toEqual(["waiting", 1]);
    const retryAt = clock.now() + 90_000;
    expect(waiting.state.retryAt).toBe(retryAt);
    expect(wakes).toEqual([expect.objectContaining({ why: "retry", notBefore: retryAt })]);
    const head = (await setup.types("r")).length;
    const other = createHarness(setup.options);
    expect((await other.advance(waiting)).status).toBe("waiting");
    expect((await setup.types("r")).length).toBe(head);
    expect(await other.recover()).toBe(0);
    clock.advance(90_000);
    expect((await other.advance(waiting)).answer).toBe("ok");
  });

  it("waits longer after an adapter that has tried again by itself", async () => {
    const clock = manualClock();
    const setup = setUp(failing(away()), { clock });
    await setup.harness.run("go", { runId: "r" }).result;
    const [failed] = await failures(setup);
    expect((failed?.retryAt ?? 0) - clock.now()).toBeGreaterThanOrEqual(15_000);
  });

  it("is not asked again beyond the wall clock of the run, or when the provider wants more than the longest wait", async () => {
    const late = failing(throttled(50_000));
    const bounded = setUp(late, { clock: manualClock() }, { limits: { wallClockMs: 40_000 } });
    expect((await bounded.harness.run("go").result).label).toBe("model_error");
    const never = setUp(failing(throttled(601_000)), { clock: manualClock() });
    expect((await never.harness.run("go").result).label).toBe("model_error");
  });

  it("stops waiting when the run is cancelled", async () => {
    const model = failing(throttled(9000), final("late"));
    const setup = setUp(model);
    const handle = setup.harness.run("go", { runId: "r" });
    await expect.poll(() => setup.types("r")).toContain("model.failed");
    await setup.harness.cancel(handle, { kind: "person", id: "dana" });
    expect((await handle.result).label).toBe("cancelled");
    expect(model.asked()).toBe(1);
  });
});
