import { describe, expect, it } from "vitest";
import { z } from "zod";
import {
  type Agent,
  type AnyTool,
  createHarness,
  defineAgent,
  defineTool,
  type ModelClient,
  type ModelReply,
  type RecoveryClass,
  type RunKey,
  type Store,
} from "../../src/index.ts";
import { createMemoryStore, verifyStoreAudit } from "../../src/journal/index.ts";
import { calls, DANA, final, manualClock } from "./support.ts";

class Crash extends Error {}

/** Counts every point at which a process can die, and dies at the `at`-th. */
interface Dying {
  point(name: string): void;
}

function dying(at: number): Dying & { readonly points: string[] } {
  const points: string[] = [];
  return {
    points,
    point(name) {
      points.push(name);
      if (points.length === at) throw new Crash(name);
    },
  };
}

/** A store whose commits are lost, or made durable and not answered. */
function crashingStore(inner: Store, { point }: Dying): Store {
  return {
    ...inner,
    async commit(commit) {
      point(`before commit of ${commit.entries.map(({ event }) => event.type).join("+")}`);
      const result = await inner.commit(commit);
      point("after commit");
      return result;
    },
  };
}

interface Far {
  /** Effects by key, as a far side that drops duplicates keeps them. */
  readonly byKey: Map<string, string>;
  /** Every effect that really happened, in order. */
  readonly happened: string[];
}

function tool(far: Far, recovery: RecoveryClass, { point }: Dying): AnyTool {
  return defineTool({
    name: "pay",
    description: "",
    level: "write",
    recovery,
    timeoutMs: 1000,
    input: z.strictObject({ to: z.string() }),
    execute: async ({ to }, { idempotencyKey }) => {
      point("before effect");
      if (recovery !== "keyed" || !far.byKey.has(idempotencyKey)) far.happened.push(to);
      far.byKey.set(idempotencyKey, to);
      point("after effect");
      return { paid: to };
    },
    lookup: (_args, { idempotencyKey }) => {
      const paid = recovery === "queryable" ? far.byKey.get(idempotencyKey) : undefined;
      return paid === undefined ? undefined : { paid };
    },
  });
}

const REPLIES: readonly ModelReply[] = [
  calls(["pay", { to: "a" }], ["pay", { to: "b" }]),
  calls(["pay", { to: "ask" }]),
  final("done"),
];

/** Answers by what it is shown, so that a repeated request gets the same reply. */
const model: ModelClient = {
  id: "m",
  generate: async ({ messages }) => {
    const turns = messages.filter((message) => message.role === "assistant").length;
    return REPLIES[turns] ?? final("done");
  },
};

function agentOf(far: Far, recovery: RecoveryClass, mortal: Dying): Agent {
  return defineAgent({
    name: "payer",
    revision: "1",
    instructions: "",
    tools: [tool(far, recovery, mortal)],
    rules: [
      {
        id: "r",
        decide: ({ args }) =>
          (args as { to: string }).to === "ask"
            ? { verdict: "ask", code: "ASK", reason: "" }
            : { verdict: "allow", code: "OK", reason: "" },
      },
    ],
  });
}

const RUN: RunKey = { tenant: "default", runId: "r" };

/** Runs to the end, or until it dies; every life is a new harness over the same store and far side. */
async function live(
  store: Store,
  far: Far,
  recovery: RecoveryClass,
  mortal: Dying,
  now: () => number,
): Promise<boolean> {
  // A tool that dies takes the process with it: nothing after it is recorded.
  let isDead = false;
  const deadly: Dying = {
    point(name) {
      if (isDead) throw new Crash("dead already");
      try {
        mortal.point(name);
      } catch (error) {
        isDead = true;
        throw error;
      }
    },
  };
  const guarded = crashingStore(store, deadly);
  const dead: Store = {
    ...guarded,
    commit: async (commit) => {
      if (isDead) throw new Crash("dead already");
      return guarded.commit(commit);
    },
    releaseLease: async (...args) => {
      if (!isDead) await store.releaseLease(...args);
    },
  };
  const harness = createHarness({
    agent: agentOf(far, recovery, deadly),
    model,
    store: dead,
    clock: { now },
    leaseMs: 1000,
  });
  try {
    if ((await store.read(RUN)).length === 0) await harness.start("go", { runId: RUN.runId });
    let result = await harness.advance(RUN);
    for (const { approvalId } of result.approvals) await harness.decide({ approvalId, answer: "approved", by: DANA });
    result = await harness.advance(RUN);
    return !isDead && (result.status === "done" || result.status === "failed");
  } catch (error) {
    if (error instanceof Crash || isDead) return false;
    throw error;
  }
}

async function liveUntilEnd(
  recovery: RecoveryClass,
  deaths: readonly number[],
): Promise<{ far: Far; store: Store; points: number }> {
  const far: Far = { byKey: new Map(), happened: [] };
  const store = createMemoryStore();
  const clock = manualClock();
  let points = 0;
  for (let life = 0; life < 12; life += 1) {
    const mortal = dying(deaths[life] ?? Number.POSITIVE_INFINITY);
    const isDone = await live(store, far, recovery, mortal, clock.now);
    points = Math.max(points, mortal.points.length);
    if (isDone) return { far, store, points };
    // The lease of the dead has to run out, and a queryable intent has to be old enough.
    clock.advance(5000);
  }
  throw new Error("the run never ends");
}

const outcomeOf = async (store: Store) => (await store.run(RUN))?.termination;

describe("a process that dies", () => {
  it.each(["keyed", "queryable"] as const)(
    "at any point loses nothing and does nothing twice: %s",
    async (recovery) => {
      const untouched = await liveUntilEnd(recovery, []);
      expect(untouched.far.happened).toEqual(["a", "b", "ask"]);
      expect(untouched.points).toBeGreaterThan(15);
      for (let at = 1; at <= untouched.points; at += 1) {
        const { far, store } = await liveUntilEnd(recovery, [at]);
        expect(await outcomeOf(store), `death at ${at}`).toBe("completed");
        expect([...far.happened].sort(), `death at ${at}`).toEqual(["a", "ask", "b"]);
        expect((await verifyStoreAudit(store)).ok).toBe(true);
      }
    },
  );

  it("at any two points one after the other does nothing twice", async () => {
    const { points } = await liveUntilEnd("keyed", []);
    for (let first = 1; first <= points; first += 1) {
      for (let second = 1; second <= points; second += 3) {
        const { far, store } = await liveUntilEnd("keyed", [first, second]);
        expect(await outcomeOf(store)).toBe("completed");
        expect([...far.happened].sort(), `deaths at ${first}, ${second}`).toEqual(["a", "ask", "b"]);
      }
    }
  });

  it("in the middle of an opaque call leaves 'unknown', and nothing follows", async () => {
    const { points } = await liveUntilEnd("opaque", []);
    let unknown = 0;
    for (let at = 1; at <= points; at += 1) {
      const { far, store } = await liveUntilEnd("opaque", [at]);
      expect(new Set(far.happened).size, `death at ${at}`).toBe(far.happened.length);
      if ((await outcomeOf(store)) !== "outcome_unknown") continue;
      unknown += 1;
      const events = (await store.read(RUN)).map(({ event }) => event);
      const at2 = events.findIndex((event) => event.type === "call.settled" && event.outcome.status === "unknown");
      expect(events.slice(at2).some((event) => event.type === "call.started")).toBe(false);
    }
    expect(unknown).toBeGreaterThanOrEqual(3);
  });

  it("keeps one question, one decision and one charge per model call", async () => {
    const { points } = await liveUntilEnd("keyed", []);
    for (let at = 1; at <= points; at += 1) {
      const { store } = await liveUntilEnd("keyed", [at]);
      const types = (await store.read(RUN)).map(({ event }) => event.type);
      expect(types.filter((type) => type === "approval.requested")).toHaveLength(1);
      expect(types.filter((type) => type === "approval.resolved")).toHaveLength(1);
      expect(types.filter((type) => type === "run.ended")).toHaveLength(1);
    }
  });
});

describe("two workers on one run", () => {
  it("a worker that was frozen while another took over is turned away, and its outcome is kept as evidence", async () => {
    const clock = manualClock();
    const store = createMemoryStore();
    const happened: string[] = [];
    let thaw: () => void = () => undefined;
    const frozen = new Promise<void>((resolve) => {
      thaw = resolve;
    });
    const make = (worker: string) =>
      createHarness({
        agent: defineAgent({
          name: "payer",
          revision: "1",
          instructions: "",
          tools: [
            defineTool({
              name: "pay",
              description: "",
              level: "write",
              recovery: "keyed",
              input: z.strictObject({ to: z.string() }),
              execute: async ({ to }, { idempotencyKey }) => {
                happened.push(`${worker} ${idempotencyKey}`);
                if (worker === "one") await frozen;
                return { paid: to, by: worker };
              },
            }),
          ],
          rules: [{ id: "r", decide: () => ({ verdict: "allow", code: "OK", reason: "" }) }],
        }),
        model: {
          id: "m",
          generate: async ({ messages }) => (messages.length === 1 ? calls(["pay", { to: "a" }]) : final("done")),
        },
        store,
        clock,
        worker,
        leaseMs: 10_000,
      });
    const one = make("one");
    const first = one.run("go", { runId: "r" }).result;
    await expect.poll(() => happened.length).toBe(1);
    const two = make("two");
    expect((await two.advance(RUN)).status).toBe("busy");
    clock.advance(20_000);
    expect((await two.advance(RUN)).status).toBe("done");
    thaw();
    expect((await first).status).toBe("done");
    expect(new Set(happened.map((line) => line.split(" ")[1])).size).toBe(1);
    const events = (await store.read(RUN)).map(({ event }) => event);
    expect(events.filter((event) => event.type === "call.settled")).toHaveLength(1);
    expect(events.filter((event) => event.type === "call.outcome_observed")).toHaveLength(1);
    expect(events.filter((event) => event.type === "run.ended")).toHaveLength(1);
  });
});
