import { join } from "node:path";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { createSqliteWaker, openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import {
  type AnyTool,
  allow,
  ask,
  createHarness,
  defineTool,
  type Harness,
  type ModelClient,
  type ModelReply,
  type Rule,
  type Store,
} from "../../src/index.ts";
import { createMemoryStore, verifyStoreAudit } from "../../src/journal/index.ts";
import { ASK_ABOVE_1000, calls, DANA, final, refundTool, searchTool, world } from "../engine/support.ts";
import { paymentsIn } from "./children/far-side.ts";
import { answer, closedAfterwards, idOf, runChild, STORES, statuses, temporaryFolder, worldOn } from "./support.ts";

const BIG = ["refund", { order: "A1", cents: 5000 }] as const;
const RUN = { tenant: "default", runId: "r" };

interface Said {
  readonly outcomes: readonly string[];
  readonly status: string;
  readonly termination?: string;
}

async function payer(folder: string, ...args: readonly string[]): Promise<Said | undefined> {
  const { lines } = await runChild("payer.ts", folder, ...args);
  return lines[0] === undefined ? undefined : (JSON.parse(lines[0]) as Said);
}

const openIn = async (folder: string): Promise<Store> =>
  closedAfterwards(await openSqliteStore(join(folder, "store.db")));

describe("a process that is gone", () => {
  const deaths = [
    ["keyed", "effect", "completed"],
    ["keyed", "exit-effect", "completed"],
    ["queryable", "effect", "completed"],
    ["opaque", "effect", "outcome_unknown"],
  ] as const;

  it.each(deaths)(
    "kill-between-effect-and-save: %s, dies by %s, happens once and ends %s",
    async (recovery, dies, end) => {
      const folder = temporaryFolder();
      expect(await payer(folder, recovery, "never")).toMatchObject({ status: "waiting" });
      expect(await payer(folder, recovery, dies, "decide")).toBeUndefined();
      expect(paymentsIn(join(folder, "ledger.jsonl"))).toHaveLength(1);
      // The same approval is tried again by a new process.
      let said = await payer(folder, recovery, "never", "decide");
      for (let tries = 0; tries < 5 && said?.status === "waiting"; tries += 1)
        said = await payer(folder, recovery, "never");
      expect(said?.termination).toBe(end);
      expect(paymentsIn(join(folder, "ledger.jsonl"))).toHaveLength(1);
      const store = await openIn(folder);
      const events = (await store.read(RUN)).map(({ event }) => event);
      const types = events.map(({ type }) => type);
      expect(types.indexOf("call.started")).toBeGreaterThan(types.indexOf("approval.resolved"));
      const keys = events.flatMap((event) => (event.type === "call.started" ? [event.idempotencyKey] : []));
      expect(new Set(keys).size).toBe(1);
      expect(types.filter((type) => type === "approval.resolved")).toHaveLength(1);
      expect((await verifyStoreAudit(store)).ok).toBe(true);
    },
    60_000,
  );

  it("running-run-recovered: a run that was left in the middle of a model call is found and gone on with", async () => {
    const folder = temporaryFolder();
    expect(await payer(folder, "keyed", "model")).toBeUndefined();
    const store = await openIn(folder);
    expect((await store.run(RUN))?.status).toBe("running");
    expect((await store.unfinished(10)).map(({ runId }) => runId)).toEqual(["r"]);
    await store.close();
    expect(await payer(folder, "keyed", "never")).toMatchObject({ status: "waiting" });
    const again = await openIn(folder);
    const requested = (await again.read(RUN)).filter(({ event }) => event.type === "model.requested");
    expect(requested).toHaveLength(2);
  }, 60_000);

  it("same-approval-concurrently: two processes that decide and go on at once make one effect", async () => {
    const folder = temporaryFolder();
    await payer(folder, "keyed", "never");
    const both = await Promise.all([
      payer(folder, "keyed", "never", "decide"),
      payer(folder, "keyed", "never", "decide"),
    ]);
    expect(both.flatMap((said) => said?.outcomes).toSorted()).toEqual(["already_decided", "recorded"]);
    expect(both.map((said) => said?.status)).toEqual(["done", "done"]);
    expect(paymentsIn(join(folder, "ledger.jsonl"))).toHaveLength(1);
    const store = await openIn(folder);
    const types = (await store.read(RUN)).map(({ event }) => event.type);
    for (const once of ["approval.resolved", "call.settled", "run.ended"]) {
      expect(types.filter((type) => type === once)).toHaveLength(1);
    }
  }, 60_000);

  it.each(["keyed", "opaque"] as const)(
    "same-approval-concurrently: a worker whose start came too late does not run the %s call that another started",
    async (recovery) => {
      const ran: string[] = [];
      const store = createMemoryStore();
      let overtake: (() => Promise<unknown>) | undefined;
      let finish: () => void = () => undefined;
      const isFinished = new Promise<void>((resolve) => {
        finish = resolve;
      });
      const change = (worker: string) => ({
        tools: (): readonly AnyTool[] => [
          defineTool({
            name: "pay",
            description: "",
            level: "write",
            recovery,
            input: z.strictObject({ to: z.string() }),
            execute: async ({ to }) => {
              ran.push(`${worker} pays ${to}`);
              if (worker === "second") await isFinished;
              return null;
            },
          }),
        ],
        agent: { rules: [{ id: "gate", decide: () => ask("ASK", "") }] },
        options: { worker },
      });
      // The first worker is frozen before its start is durable; its lease runs out and a second one takes over.
      const slow: Store = {
        ...store,
        commit: async (commit) => {
          const starts = commit.entries.some(({ event }) => event.type === "call.started");
          const go = overtake;
          if (starts && go !== undefined) {
            overtake = undefined;
            await go();
          }
          return store.commit(commit);
        },
      };
      const first = worldOn(slow, [calls(["pay", { to: "ann" }]), final("done")], change("first"));
      const second = worldOn(store, [final("done")], {
        ...change("second"),
        options: { worker: "second", clock: first.clock },
      });
      const waiting = await first.harness.run("go", { runId: "r" }).result;
      let working: Promise<unknown> = Promise.resolve();
      overtake = async () => {
        first.clock.advance(60_000);
        working = second.harness.advance(RUN);
        await expect.poll(() => ran.length).toBe(1);
      };
      await answer(first.harness, waiting, "approved");
      finish();
      await working;
      expect(ran).toEqual(["second pays ann"]);
      expect((await store.run(RUN))?.status).toBe("done");
    },
  );

  it("running-run-recovered: the wake-up of an expiry outlives the process that asked for it", async () => {
    const path = join(temporaryFolder(), "store.db");
    const first = await openSqliteStore(path);
    const clock = { at: 1_800_000_000_000, now: () => clock.at };
    const options = (store: Store) => ({ store, clock, waker: createSqliteWaker(store, { pollMs: 2, clock }) });
    const setup = world([calls(BIG)], { options: options(first) });
    const waiting = await setup.harness.run("go").result;
    await first.close();
    const second = closedAfterwards(await openSqliteStore(path));
    clock.at += 24 * 3_600_000;
    const later = world([final("expired")], { options: options(second) });
    const serving = await later.harness.work();
    await expect.poll(async () => (await second.run(waiting))?.status).toBe("done");
    await serving.close();
    expect(later.effects).toEqual([]);
  });
});

describe.each(STORES)("on the %s store", (_name, open) => {
  it("same-approval-concurrently: two decisions at once are one, and the loser gets the outcome", async () => {
    const setup = worldOn(await open(), [calls(BIG), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    const other = createHarness(setup.options);
    const request = { approvalId: idOf(waiting), answer: "approved", by: DANA } as const;
    const outcomes = await Promise.all([
      setup.harness.decide(request),
      other.decide(request),
      other.decide(request),
      setup.harness.decide({ ...request, answer: "rejected" }),
    ]);
    const won = outcomes.filter(({ status }) => status === "recorded");
    const lost = outcomes.filter(({ status }) => status === "already_decided");
    expect([won.length, lost.length]).toEqual([1, 3]);
    await Promise.all([setup.harness.advance(waiting), other.advance(waiting)]);
    await other.advance(waiting);
    const [stored] = await setup.options.store.approvals({ tenant: "default" });
    expect(lost.every((outcome) => "approval" in outcome && outcome.approval.status === stored?.status)).toBe(true);
    expect(setup.effects).toHaveLength(stored?.status === "approved" ? 1 : 0);
  });

  it("later-unrelated-turn: an approved call that is done does not run again in a later turn or run", async () => {
    const setup = worldOn(await open(), [
      calls(BIG),
      calls(["search", { q: "later" }]),
      final("ok"),
      final("hello"),
      final("hello"),
    ]);
    const waiting = await setup.harness.run("go").result;
    const done = await answer(setup.harness, waiting, "approved");
    const sent = await setup.harness.message(done.conversationId, "and another thing");
    await createHarness(setup.options).advance(sent.run);
    await createHarness(setup.options).advance(waiting);
    await createHarness(setup.options).recover();
    expect(setup.effects).toEqual(["A1:5000", "search later"]);
  });

  it("stable-idempotency-key: equal over retry and resume, different for other arguments and for another call", async () => {
    const keys: string[] = [];
    const shown: unknown[] = [];
    let fails = true;
    const tools = (ledger: Parameters<typeof refundTool>[0]): readonly AnyTool[] => [
      refundTool(ledger, {
        execute: async (args: unknown, { idempotencyKey }: { idempotencyKey: string }) => {
          keys.push(idempotencyKey);
          shown.push(args);
          if (fails) {
            fails = false;
            throw new Error("connection reset");
          }
          return null;
        },
      }),
    ];
    const setup = worldOn(
      await open(),
      [
        calls(["refund", { order: "A", cents: 1 }]),
        calls(["refund", { order: "A", cents: 2 }]),
        calls(BIG),
        final("ok"),
      ],
      { tools },
    );
    const waiting = await setup.harness.run("go").result;
    await answer(createHarness(setup.options), waiting, "approved");
    const second = worldOn(setup.options.store, [calls(["refund", { order: "A", cents: 1 }]), final("ok")], { tools });
    await second.harness.run("go").result;
    const [first, retry, otherArgs, approved, otherRun] = keys;
    expect(keys).toHaveLength(5);
    expect(retry).toBe(first);
    expect(new Set([first, otherArgs, approved, otherRun]).size).toBe(4);
    expect(JSON.stringify([shown, setup.model.requests])).not.toContain(first);
  });

  it("run-id-preserved: a question of a nested run is answered under the same run id, and asked once", async () => {
    const nested = await pausedInside(await open());
    const pending = await nested.store.approvals({ tenant: "default", status: "pending" });
    expect(pending.map(({ runId }) => runId)).toEqual([nested.innerRun.runId]);
    expect((await nested.outer.advance(RUN)).status).toBe("waiting");
    await nested.inner.decide({ approvalId: pending[0]?.approvalId ?? "", answer: "approved", by: DANA });
    await nested.inner.advance(nested.innerRun);
    nested.clock.advance(60_000);
    expect(await nested.outer.advance(RUN)).toMatchObject({ status: "done", answer: "outer done" });
    expect(await nested.store.approvals({ tenant: "default" })).toHaveLength(1);
    expect((await nested.store.runs({ tenant: "default" })).map(({ runId }) => runId).toSorted()).toEqual(
      ["r", nested.innerRun.runId].toSorted(),
    );
  });

  it("subflow-restarts-from-top: a nested run goes on where it paused and repeats none of its steps", async () => {
    const nested = await pausedInside(await open());
    const [pending] = await nested.store.approvals({ tenant: "default", status: "pending" });
    await nested.inner.decide({ approvalId: pending?.approvalId ?? "", answer: "approved", by: DANA });
    await nested.inner.recover();
    nested.clock.advance(60_000);
    await nested.outer.recover();
    await nested.inner.recover();
    expect((await nested.outer.advance(RUN)).status).toBe("done");
    expect(nested.effects).toEqual(["search x", "A1:5000"]);
  });

  it("second-pause-in-same-step: a call that a second rule asks about after the first yes asks again, and no run hangs", async () => {
    let isFlagged = false;
    const rules: readonly Rule[] = [
      {
        id: "two_questions",
        decide: () => (isFlagged ? ask("FLAGGED", "the payee was flagged meanwhile") : ask("AMOUNT", "a large amount")),
      },
    ];
    const setup = worldOn(await open(), [calls(BIG), final("ok")], { agent: { rules } });
    const waiting = await setup.harness.run("go").result;
    isFlagged = true;
    const again = await answer(createHarness(setup.options), waiting, "approved");
    expect(again.status).toBe("waiting");
    expect(again.approvals.map(({ code }) => code)).toEqual(["FLAGGED"]);
    expect(idOf(again)).not.toBe(idOf(waiting));
    expect(setup.effects).toEqual([]);
    const result = await answer(createHarness(setup.options), again, "approved");
    expect(result.status).toBe("done");
    expect(setup.effects).toEqual(["A1:5000"]);
  });

  it("second-pause-in-same-step: a yes to one rule's question does not answer another rule's", async () => {
    let isFlagged = false;
    const rules: readonly Rule[] = [
      { id: "amount", decide: () => ask("AMOUNT", "a large amount") },
      { id: "payee", decide: () => (isFlagged ? ask("FLAGGED", "the payee was flagged meanwhile") : undefined) },
    ];
    const setup = worldOn(await open(), [calls(BIG), final("ok")], { agent: { rules } });
    const waiting = await setup.harness.run("go").result;
    isFlagged = true;
    const again = await answer(createHarness(setup.options), waiting, "approved");
    expect(again.status).toBe("waiting");
    expect(idOf(again)).not.toBe(idOf(waiting));
    expect(JSON.stringify(again.approvals)).toContain("FLAGGED");
    expect(setup.effects).toEqual([]);
  });

  it("second-pause-in-same-step: what two rules ask at once is one question that names both, and one yes answers it", async () => {
    const rules: readonly Rule[] = [
      { id: "amount", decide: () => ask("AMOUNT", "a large amount") },
      { id: "payee", decide: () => ask("FLAGGED", "the payee is flagged") },
    ];
    const setup = worldOn(await open(), [calls(BIG), final("ok")], { agent: { rules } });
    const waiting = await setup.harness.run("go").result;
    expect(waiting.approvals).toHaveLength(1);
    expect(waiting.approvals[0]?.reason).toContain("the payee is flagged");
    const result = await answer(createHarness(setup.options), waiting, "approved");
    expect(result.status).toBe("done");
    expect(setup.effects).toEqual(["A1:5000"]);
  });

  it("second-pause-in-same-step: two pauses in two turns of one run each surface", async () => {
    const setup = worldOn(await open(), [calls(BIG), calls(["refund", { order: "B", cents: 5000 }]), final("ok")]);
    const first = await setup.harness.run("go").result;
    const second = await answer(createHarness(setup.options), first, "approved");
    expect(second.approvals.map(({ args }) => args)).toEqual([{ order: "B", cents: 5000 }]);
    expect((await answer(createHarness(setup.options), second, "approved")).status).toBe("done");
    expect(setup.effects).toEqual(["A1:5000", "B:5000"]);
  });

  it("completed-parallel-work-rerun: of four parallel reads only the one that had not finished runs again", async () => {
    const store = await open();
    const ran: string[] = [];
    let hangs = true;
    const tools = (): readonly AnyTool[] => [
      defineTool({
        name: "look",
        description: "",
        level: "read",
        recovery: "read",
        input: z.strictObject({ what: z.string() }),
        execute: ({ what }) => {
          ran.push(what);
          return what === "c" && hangs ? new Promise<string>(() => undefined) : what;
        },
      }),
    ];
    const replies = [
      calls(["look", { what: "a" }], ["look", { what: "b" }], ["look", { what: "c" }], ["look", { what: "d" }]),
      final("ok"),
    ];
    const setup = worldOn(store, replies, { tools });
    // This process is gone before the third read answers: nobody prolongs its lease.
    void setup.harness.run("go", { runId: "r" }).result;
    await expect.poll(async () => (await setup.types("r")).filter((type) => type === "call.settled").length).toBe(3);
    hangs = false;
    setup.clock.advance(20_000);
    const result = await createHarness(setup.options).advance(RUN);
    expect(result.status).toBe("done");
    expect(ran).toEqual(["a", "b", "c", "d", "c"]);
  });

  it("store-growth-linear: a step costs less than 1 kB of journal, whatever came before", async () => {
    const store = await open();
    const written: number[] = [];
    const counting: Store = {
      ...store,
      commit: (commit) => {
        written.push(...commit.entries.map(({ event }) => JSON.stringify(event).length));
        return store.commit(commit);
      },
    };
    const steps = 256;
    const replies = Array.from({ length: steps }, (_, n) => calls(["search", { q: `question number ${n}` }]));
    const setup = worldOn(counting, [...replies, final("ok")], {
      agent: { limits: { stepsMax: steps + 1, identicalCalls: "off", cycles: "off" } },
    });
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    const bytes = written.reduce((sum, length) => sum + length, 0);
    expect(bytes / steps).toBeLessThan(1024);
    const half = Math.floor(written.length / 2);
    const sumOf = (part: readonly number[]) => part.reduce((sum, length) => sum + length, 0);
    // The second half of the run writes what the first half wrote.
    expect(sumOf(written.slice(half)) / sumOf(written.slice(0, half))).toBeLessThan(1.1);
  });
});

interface Nested {
  readonly outer: Harness;
  readonly inner: Harness;
  readonly store: Store;
  readonly innerRun: { readonly tenant: string; readonly runId: string };
  readonly effects: readonly string[];
  readonly clock: { advance(ms: number): void };
}

/**
 * The run `r` of an agent whose one tool starts a run of another agent, named by the call. The inner run waits
 * for a person, the process that drove the outer run is gone, and `outer` is a new one.
 */
async function pausedInside(store: Store): Promise<Nested> {
  const inner = worldOn(store, [calls(["search", { q: "x" }]), calls(BIG), final("inner done")], {
    tools: (ledger) => [refundTool(ledger), searchTool(ledger)],
    agent: { name: "inner", rules: [ASK_ABOVE_1000] },
  });
  const innerRun = { tenant: "default", runId: "sub.r.c1.1" };
  // The key of a call may hold what no run id may, so the inner run is named by the call itself.
  const innerIdOf = (outerRunId: string, callId: string) => `sub.${outerRunId}.${callId}`;
  const delegate = defineTool({
    name: "delegate",
    description: "Gives the work to another agent",
    level: "write",
    recovery: "queryable",
    input: z.strictObject({}),
    execute: async (_args, { runId, callId }) => {
      await inner.harness.run("inner", { runId: innerIdOf(runId, callId) }).result;
      return await new Promise<never>(() => undefined);
    },
    lookup: async (_args, { runId, callId }) => {
      const said = (await store.run({ tenant: "default", runId: innerIdOf(runId, callId) }))?.answer;
      if (said === undefined) throw new Error("the inner run waits");
      return { answer: said };
    },
  });
  const replies: readonly ModelReply[] = [calls(["delegate", {}]), final("outer done")];
  const outer = worldOn(store, replies, {
    tools: () => [delegate],
    agent: { name: "outer", rules: [{ id: "yes", decide: () => allow("OK", "") }] },
    options: { clock: inner.clock },
  });
  void outer.harness.run("outer", { runId: "r" }).result;
  await expect.poll(async () => (await store.run(innerRun))?.status).toBe("waiting");
  inner.clock.advance(60_000);
  const { clock, effects } = inner;
  return { outer: createHarness(outer.options), inner: inner.harness, store, innerRun, effects, clock };
}

describe("a commit that was written and not answered", () => {
  it("completed-parallel-work-rerun: the reply in it is taken once, by the worker that lives on and by the next one", async () => {
    const store = createMemoryStore();
    let fails = true;
    const unanswered: Store = {
      ...store,
      commit: async (commit) => {
        const result = await store.commit(commit);
        const types = commit.entries.map(({ event }) => event.type);
        // The reply, what became of its call, and the next request stand in one commit.
        if (fails && types.includes("model.replied") && types.includes("model.requested")) {
          fails = false;
          throw new Error("the disk answered too late");
        }
        return result;
      },
    };
    const setup = worldOn(unanswered, [calls(["teleport", { q: "x" }]), final("ok"), final("ok")]);
    await expect(setup.harness.run("go", { runId: "r" }).result).rejects.toThrow("too late");
    const result = await createHarness({ ...setup.options, store }).advance(RUN);
    expect(fails).toBe(false);
    const ids = result.calls.map(({ call }) => call.callId);
    expect(new Set(ids).size).toBe(ids.length);
    const results = result.state.messages.flatMap((message) => (message.role === "tool" ? [message.callId] : []));
    expect(results).toEqual(["c1.1"]);
    expect((await setup.types("r")).filter((type) => type === "model.replied")).toHaveLength(2);
  });

  it("completed-parallel-work-rerun: a reply that comes after another worker has asked again answers no other request", async () => {
    const store = createMemoryStore();
    let reply: (text: string) => void = () => undefined;
    let isAsked = false;
    const slow: ModelClient = {
      id: "m",
      generate: () =>
        new Promise((resolve) => {
          isAsked = true;
          reply = (text) => resolve(final(text));
        }),
    };
    const first = worldOn(store, [], { options: { model: slow, worker: "first" } });
    const firstRun = first.harness.run("go", { runId: "r" }).result;
    await expect.poll(() => isAsked).toBe(true);
    first.clock.advance(60_000);
    // The second worker's model is still thinking when the first worker's answers.
    let secondReply: () => void = () => undefined;
    const second = worldOn(store, [], {
      options: {
        clock: first.clock,
        worker: "second",
        model: { id: "m", generate: () => new Promise((resolve) => (secondReply = () => resolve(final("second")))) },
      },
    });
    const secondRun = second.harness.advance(RUN);
    const requests = async () => (await first.types("r")).filter((type) => type === "model.requested").length;
    await expect.poll(requests).toBe(2);
    reply("first");
    await firstRun;
    secondReply();
    expect((await secondRun).answer).toBe("second");
  });
});

describe("the outcome of work that was given up", () => {
  it("completed-parallel-work-rerun: of four changing calls those that are settled are not repeated after a takeover", async () => {
    const store = createMemoryStore();
    const ran: string[] = [];
    let hangs = true;
    const change = {
      tools: (): readonly AnyTool[] => [
        defineTool({
          name: "pay",
          description: "",
          level: "write",
          recovery: "keyed",
          input: z.strictObject({ to: z.string() }),
          execute: ({ to }, { idempotencyKey }) => {
            ran.push(`${to} ${idempotencyKey}`);
            return to === "c" && hangs ? new Promise<string>(() => undefined) : to;
          },
        }),
      ],
      agent: { rules: [{ id: "yes", decide: () => allow("OK", "") }] },
    };
    const replies = [
      calls(["pay", { to: "a" }], ["pay", { to: "b" }], ["pay", { to: "c" }], ["pay", { to: "d" }]),
      final("ok"),
    ];
    const setup = worldOn(store, replies, change);
    void setup.harness.run("go", { runId: "r" }).result;
    await expect.poll(() => ran.length).toBe(3);
    hangs = false;
    setup.clock.advance(20_000);
    const result = await createHarness(setup.options).advance(RUN);
    expect(statuses(result)).toEqual(["ok", "ok", "ok", "ok"]);
    expect(ran.map((line) => line.split(" ")[0])).toEqual(["a", "b", "c", "c", "d"]);
    expect(new Set(ran).size).toBe(4);
  });
});
