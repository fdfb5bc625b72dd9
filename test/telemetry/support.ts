import fc from "fast-check";
import { z } from "zod";
import {
  type AnyTool,
  createHarness,
  defineAgent,
  defineTool,
  type Entry,
  type Harness,
  type ModelReply,
  type Principal,
  type Rule,
  type RunKey,
  type Store,
} from "../../src/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { scriptedModel } from "../../src/testing/index.ts";

export const SECRET = "password=hunter2";
export const DANA: Principal = { kind: "person", id: "dana" };
export const MODEL = "fake.scripted-v1";

/** One call of a random run, named by what will become of it. */
export type Wish =
  | "search"
  | "pay"
  | "pay_more"
  | "broken"
  | "guarded"
  | "forbidden"
  | "halting"
  | "invalid"
  | "unknown";

export interface Plan {
  /** Calls of each turn; the last reply of the run is an answer. */
  readonly turns: readonly (readonly Wish[] | "unreadable")[];
  /** What the person says to each question, in order; "approved" when there are more questions. */
  readonly answers: readonly ("approved" | "rejected" | "expired")[];
}

const wish = fc.constantFrom<Wish>(
  ...(["search", "pay", "pay_more", "broken", "guarded", "forbidden", "invalid", "unknown", "halting"] as const),
);

export const plans: fc.Arbitrary<Plan> = fc.record({
  turns: fc.array(
    fc.oneof(
      { weight: 8, arbitrary: fc.array(wish, { minLength: 1, maxLength: 4 }) },
      fc.constant("unreadable" as const),
    ),
    {
      maxLength: 4,
    },
  ),
  answers: fc.array(fc.constantFrom("approved" as const, "rejected" as const, "expired" as const), { maxLength: 6 }),
});

const RULE: Rule = {
  id: "test_rule",
  decide: (call) => {
    const { what = "" } = call.args as { what?: string };
    if (what.startsWith("guarded")) return { verdict: "deny", code: "blocked_by_guard", reason: "not grounded" };
    if (what.startsWith("forbidden")) return { verdict: "deny", code: "FORBIDDEN", reason: "no" };
    if (what.startsWith("halting")) return { verdict: "halt", code: "STOP", reason: "stop" };
    if (what.startsWith("pay_more")) return { verdict: "ask", code: "ABOVE_LIMIT", reason: "above the limit" };
    return call.level === "read" ? undefined : { verdict: "allow", code: "OK", reason: "fine" };
  },
};

export interface Bench {
  readonly store: Store;
  readonly clock: { now(): number; advance(ms: number): void };
  /** What the tools really did, by tool and argument. */
  readonly ran: string[];
  readonly run: RunKey;
  /** A new harness over the same store, as another process has it; it goes on with the script where it stands. */
  open(worker?: string, store?: Store): Harness;
  entries(): Promise<readonly Entry[]>;
}

/** A bench for one run of a scripted model. Each tool call and model call takes a little time. */
export function bench(replies: readonly ModelReply[], run: RunKey = { tenant: "default", runId: "run_1" }): Bench {
  let at = 1_800_000_000_000;
  const clock = {
    now: () => at,
    advance: (ms: number) => {
      at += ms;
    },
  };
  const ran: string[] = [];
  const store = createMemoryStore();
  const scripted = scriptedModel(replies, { id: MODEL });
  const model = {
    id: MODEL,
    generate: (...args: Parameters<typeof scripted.generate>) => {
      clock.advance(100);
      return scripted.generate(...args);
    },
  };
  const agent = defineAgent({
    name: "bench",
    revision: "r1",
    instructions: "Help.",
    tools: tools(ran, clock),
    rules: [RULE],
    limits: { stepsMax: 6, invalidCallsMax: 3 },
    approval: { ttlMs: 60_000 },
  });
  return {
    store,
    clock,
    ran,
    run,
    open: (worker = "w1", own = store) => createHarness({ agent, model, store: own, clock, worker }),
    entries: () => store.read(run),
  };
}

function tools(ran: string[], clock: Bench["clock"]): readonly AnyTool[] {
  const input = z.strictObject({ what: z.string() });
  const done = (tool: string, what: string) => {
    clock.advance(10);
    ran.push(`${tool} ${what}`);
  };
  return [
    defineTool({
      name: "search",
      description: "Searches",
      level: "read",
      recovery: "read",
      input,
      execute: async ({ what }) => {
        done("search", what);
        return { found: what };
      },
    }),
    defineTool({
      name: "pay",
      description: "Pays",
      level: "write",
      recovery: "keyed",
      input,
      execute: async ({ what }) => {
        done("pay", what);
        return { paid: what };
      },
    }),
    defineTool({
      name: "broken",
      description: "Throws",
      level: "read",
      recovery: "read",
      input,
      execute: async ({ what }) => {
        done("broken", what);
        throw new Error(`db ${SECRET} refused`);
      },
    }),
  ];
}

/** The replies of a plan; every argument is different, so that no call counts as a repetition. */
export function repliesOf({ turns }: Plan): readonly ModelReply[] {
  let number = 0;
  const call = (name: Wish) => {
    number += 1;
    const what = `${name} ${number}`;
    if (name === "unknown") return { tool: "teleport", args: { json: { what } } };
    if (name === "invalid") return { tool: "search", args: { json: { wrong: what } } };
    const tool = name === "search" || name === "broken" ? name : "pay";
    return { tool, args: { json: { what } } };
  };
  const replies = turns.map(
    (turn): ModelReply =>
      turn === "unreadable"
        ? { kind: "unreadable", problem: "no JSON" }
        : { kind: "calls", text: "", calls: turn.map(call) },
  );
  return [...replies, { kind: "final", text: "done" }];
}

/** A store as another process has it: it hears of its own commits alone. */
export function processView(store: Store): Store {
  const listeners = new Set<Parameters<Store["subscribe"]>[0]>();
  return {
    ...store,
    commit: async (commit) => {
      const result = await store.commit(commit);
      if (result.status === "committed") {
        const entries = (await store.read(commit.run, commit.head)).slice(0, commit.entries.length);
        for (const listener of listeners) listener(commit.run, entries);
      }
      return result;
    },
    subscribe: (listener) => {
      listeners.add(listener);
      return () => listeners.delete(listener);
    },
  };
}

/**
 * Drives a planned run to its end, with a new harness after each pause.
 *
 * `storeOf` gives the store of each worker; the answers are given by one called `desk`.
 */
export async function play(on: Bench, plan: Plan, storeOf: (worker: string) => Store = () => on.store): Promise<void> {
  const open = (name: string) => on.open(name, storeOf(name));
  const answers = [...plan.answers];
  let worker = 1;
  let { status, approvals } = await open("w1").run("please", { runId: on.run.runId, tenant: on.run.tenant }).result;
  while (status === "waiting") {
    const [first] = approvals;
    if (first === undefined) throw new Error("waiting for nobody");
    on.clock.advance(5_000);
    const answer = answers.shift() ?? "approved";
    if (answer === "expired") {
      on.clock.advance(60_000);
    } else {
      const { approvalId } = first;
      await open("desk").decide({ tenant: on.run.tenant, approvalId, answer, by: DANA });
    }
    worker += 1;
    ({ status, approvals } = await open(`w${worker}`).advance(on.run));
  }
}

export const call = (tool: string, what: string) => ({ tool, args: { json: { what } } });
export const calls = (...requested: readonly ReturnType<typeof call>[]): ModelReply => ({
  kind: "calls",
  text: "",
  calls: requested,
});
export const final = (text: string): ModelReply => ({ kind: "final", text });
