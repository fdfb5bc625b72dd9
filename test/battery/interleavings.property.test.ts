import fc from "fast-check";
import { expect, it } from "vitest";
import { z } from "zod";
import {
  type AnyTool,
  accepts,
  createHarness,
  defineAgent,
  defineTool,
  fold,
  type Harness,
  type RecoveryClass,
  type RunEvent,
  type RunState,
} from "../../src/index.ts";
import { createMemoryStore, type Store } from "../../src/journal/index.ts";
import { calls, DANA, final, manualClock } from "../engine/support.ts";

const RUN = { tenant: "default", runId: "r" };
const PERMITTED_ERRORS = /crash/;

const STEPS = ["advance", "advance", "advance", "approve", "reject", "cancel", "message", "recover", "later"] as const;

const history = fc.record({
  steps: fc.array(
    fc.record({ step: fc.constantFrom(...STEPS), worker: fc.nat(2), pause: fc.nat(2), question: fc.nat(2) }),
    { minLength: 3, maxLength: 12 },
  ),
  crashes: fc.array(fc.record({ at: fc.integer({ min: 2, max: 24 }), isAfter: fc.boolean() }), { maxLength: 2 }),
  toolMs: fc.nat(3),
  leaseMs: fc.constantFrom(3, 1000),
  onReject: fc.constantFrom("tell_model" as const, "end_run" as const),
});
type History = typeof history extends fc.Arbitrary<infer Value> ? Value : never;

function pauseFor(ms: number): Promise<void> {
  return new Promise((resolve) => (ms === 0 ? setImmediate(resolve) : setTimeout(resolve, ms)));
}

/** A store that loses a commit, or only its answer, at the numbers given, until it is told to be whole. */
function crashing(inner: Store, crashes: History["crashes"]): { readonly store: Store; mend(): void } {
  let count = 0;
  let isMended = false;
  const commit: Store["commit"] = async (wanted) => {
    count += 1;
    const now = count;
    const crash = isMended ? undefined : crashes.find(({ at }) => at === now);
    if (crash?.isAfter === false) throw new Error("crash before the commit");
    await pauseFor(0);
    const result = await inner.commit(wanted);
    if (crash !== undefined) throw new Error("crash after the commit");
    return result;
  };
  return {
    store: { ...inner, commit },
    mend: () => {
      isMended = true;
    },
  };
}

/** What the journal must say when a tool begins; a sentence for each thing that is not so. */
function faultsAtStart(events: readonly RunEvent[], state: RunState | undefined, callId: string): readonly string[] {
  const isOfCall = (event: RunEvent): boolean => "callId" in event && event.callId === callId;
  const own = events.filter(isOfCall);
  const last = own.flatMap((event) => (event.type === "call.decided" ? [event] : [])).at(-1);
  const answers = own.flatMap((event) => (event.type === "approval.resolved" ? [event.answer] : []));
  const isAllowed =
    last?.decision.verdict === "allow" ||
    (last?.decision.verdict === "ask" && last.recheck === true && answers.includes("approved"));
  return [
    ...(own.some(({ type }) => type === "call.started") ? [] : [`${callId} ran without an intent`]),
    ...(isAllowed ? [] : [`${callId} ran without permission`]),
    ...(answers.includes("rejected") ? [`${callId} ran after a no`] : []),
    ...(state?.termination === undefined ? [] : [`${callId} ran after the end`]),
  ];
}

interface Scene {
  readonly inner: Store;
  readonly faults: string[];
  readonly effects: Map<string, number>;
}

function toolOf({ inner, faults, effects }: Scene, recovery: RecoveryClass, toolMs: number): AnyTool {
  return defineTool({
    name: recovery,
    description: "Pays",
    level: "write",
    recovery,
    input: z.strictObject({ cents: z.int() }),
    execute: async (_args, { tenant, runId, callId, idempotencyKey }) => {
      const entries = await inner.read({ tenant, runId });
      const events = entries.map(({ event }) => event);
      faults.push(...faultsAtStart(events, fold(entries), callId));
      await pauseFor(toolMs);
      effects.set(idempotencyKey, (effects.get(idempotencyKey) ?? 0) + 1);
      return "paid";
    },
  });
}

function workers(scene: Scene, { toolMs, leaseMs, onReject }: History, store: Store): readonly Harness[] {
  const clock = manualClock();
  const wanted = calls(["opaque", { cents: 5 }], ["keyed", { cents: 5000 }], ["opaque", { cents: 6000 }]);
  const agent = defineAgent({
    name: "test",
    revision: "1",
    instructions: "",
    tools: [toolOf(scene, "opaque", toolMs), toolOf(scene, "keyed", toolMs)],
    rules: [
      {
        id: "limit",
        decide: ({ args }) =>
          (args as { readonly cents: number }).cents > 1000
            ? { verdict: "ask", code: "ABOVE", reason: "above the limit" }
            : { verdict: "allow", code: "OK", reason: "within the limit" },
      },
    ],
    approval: { onReject },
  });
  const model = {
    id: "m",
    generate: async ({ messages }: { readonly messages: readonly { readonly role: string }[] }) =>
      messages.some(({ role }) => role === "assistant") ? final("done") : wanted,
  };
  return [0, 1, 2].map(() => createHarness({ agent, model, store, clock: timeFor(clock), leaseMs }));
}

/** Every look at the clock is a millisecond later, so that short leases run out while somebody works. */
function timeFor(clock: ReturnType<typeof manualClock>): { now(): number } {
  return {
    now: () => {
      clock.advance(1);
      return clock.now();
    },
  };
}

async function act(inner: Store, harness: Harness, step: History["steps"][number]): Promise<unknown> {
  const questions = await inner.approvals({ tenant: "default" });
  const approvalId = questions[step.question]?.approvalId;
  switch (step.step) {
    case "advance":
      return harness.advance(RUN);
    case "recover":
      return harness.recover();
    case "approve":
    case "reject":
      return approvalId === undefined
        ? undefined
        : harness.decide({ approvalId, answer: step.step === "approve" ? "approved" : "rejected", by: DANA });
    case "cancel":
      return step.question === 0 ? harness.cancel(RUN, DANA) : undefined;
    case "message":
      return step.question === 0 ? harness.message("c", "and another thing") : undefined;
    case "later":
      return pauseFor(2);
  }
}

async function play(plan: History): Promise<readonly string[]> {
  const inner = createMemoryStore();
  const scene: Scene = { inner, faults: [], effects: new Map() };
  const { store, mend } = crashing(inner, plan.crashes);
  const harnesses = workers(scene, plan, store);
  const [first] = harnesses;
  if (first === undefined) return ["no worker"];
  await first.start("go", { runId: "r", conversationId: "c" });
  const work: Promise<unknown>[] = [];
  const tolerate = (cause: unknown): void => {
    if (!PERMITTED_ERRORS.test(String(cause))) scene.faults.push(`unexpected: ${String(cause)}`);
  };
  for (const step of plan.steps) {
    work.push(act(inner, harnesses[step.worker] ?? first, step).catch(tolerate));
    await pauseFor(step.pause);
  }
  await Promise.all(work);
  mend();
  await finish(inner, first, plan.leaseMs);
  return [...scene.faults, ...(await faultsAtEnd(scene))];
}

/** Approves what is still asked and goes on until nothing is left to do. */
async function finish(inner: Store, harness: Harness, leaseMs: number): Promise<void> {
  for (let round = 0; round < 20 && (await inner.unfinished(1)).length > 0; round += 1) {
    await pauseFor(leaseMs > 100 ? 0 : 4);
    for (const { approvalId } of await inner.approvals({ tenant: "default", status: "pending" })) {
      await harness.decide({ approvalId, answer: "approved", by: DANA });
    }
    await harness.recover();
  }
}

async function faultsAtEnd({ inner, effects }: Scene): Promise<readonly string[]> {
  const entries = await inner.read(RUN);
  let state: RunState | undefined;
  const faults: string[] = [];
  for (const entry of entries) {
    if (!accepts(state, entry).ok) faults.push(`the journal holds a ${entry.event.type} that does not apply`);
    state = fold([entry], state);
  }
  const opaque = [...(state?.earlierCalls ?? [])].filter(({ recovery }) => recovery === "opaque");
  for (const { idempotencyKey = "" } of opaque) {
    if ((effects.get(idempotencyKey) ?? 0) > 1) faults.push(`${idempotencyKey} happened twice`);
  }
  return state?.termination === undefined ? [...faults, "the run never ended"] : faults;
}

it("no order of workers, answers, cancellations, messages and crashes runs an effect twice or without permission", async () => {
  await fc.assert(
    fc.asyncProperty(history, async (plan) => {
      expect(await play(plan)).toEqual([]);
    }),
    { numRuns: 60 },
  );
}, 60_000);
