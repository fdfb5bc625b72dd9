import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import {
  type Agent,
  type ApprovalRow,
  allow,
  ask,
  type Commit,
  createHarness,
  deny,
  type Entry,
  type Harness,
  halt,
  type ModelClient,
  type ModelReply,
  type ModelRequest,
  type Rule,
  type RunKey,
  type Store,
} from "../../../src/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";
import { type Args, Crash, createFarSide, type FarSide, type Process, SECRET, TOOL_TIMEOUT_MS } from "./far-side.ts";
import { JUNK_REPLIES, type PersonAct, type Plan, ROUNDS_MAX, type Says, type StoreFault, type Turn } from "./plan.ts";

export const RUN: RunKey = { tenant: "default", runId: "r" };
const LEASE_MS = 1_000;
const DAY_MS = 86_400_000;
const POINTS = 1;
const USAGE = { inputTokens: 10, outputTokens: 10 };
const PRICES = { m: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } };

/** Everything that a judge may look at when a play is over. */
export interface Played {
  readonly plan: Plan;
  readonly far: FarSide;
  readonly store: Store;
  /** What the stores have said is durable, by run. */
  readonly acknowledged: readonly { readonly run: RunKey; readonly head: number; readonly entries: readonly Entry[] }[];
  readonly requests: readonly ModelRequest[];
  readonly runs: readonly RunKey[];
  readonly crashes: readonly string[];
  readonly teamMax: number;
  readonly hasEnded: boolean;
}

interface Stage {
  readonly plan: Plan;
  readonly store: Store;
  readonly far: FarSide;
  /** Every durable entry of each run, as soon as it is. */
  readonly durable: Map<string, Entry[]>;
  readonly acknowledged: { run: RunKey; head: number; entries: readonly Entry[] }[];
  readonly requests: ModelRequest[];
  readonly crashes: string[];
  readonly clock: { now(): number; advance(ms: number): void };
  readonly asked: Set<string>;
  readonly teamMax: number;
  processes: number;
}

/** Plays a plan to its end: processes live and die, people answer, days pass. */
export async function play(plan: Plan): Promise<Played> {
  const store = plan.store === "memory" ? createMemoryStore() : await openSqliteStore(":memory:");
  const durable = new Map<string, Entry[]>();
  const far = createFarSide((callId, attempt, key) =>
    [...durable.values()].some((entries) =>
      entries.some(
        ({ event }) =>
          event.type === "call.started" &&
          event.callId === callId &&
          event.attempt === attempt &&
          event.idempotencyKey === key,
      ),
    ),
  );
  const stage: Stage = {
    plan,
    store,
    far,
    durable,
    acknowledged: [],
    requests: [],
    crashes: [],
    clock: createClock(plan.ticks),
    asked: new Set(),
    // One call costs what its prompt and the longest reply may cost; the prompt stays below 4,000 tokens here.
    teamMax: plan.modelCallsMax * 5_000_000,
    processes: 0,
  };
  const runs = [RUN];
  let hasEnded = false;
  const people = [...plan.people];
  let isMessageSent = false;
  for (let round = 0; round < ROUNDS_MAX && !hasEnded; round += 1) {
    const workers = plan.together[round] === true ? [enter(stage), enter(stage)] : [enter(stage)];
    const stop = stopAfter(plan.stops[round] ?? 0);
    await Promise.all(workers.map((worker) => go(stage, worker, runs, stop)));
    if (plan.message && !isMessageSent) isMessageSent = await sendMessage(stage, runs);
    await peopleAct(stage, people, round);
    stage.clock.advance(LEASE_MS + TOOL_TIMEOUT_MS + 1 + (round > 40 ? DAY_MS : 0));
    hasEnded = await isOver(store, runs);
  }
  const { acknowledged, requests, crashes, teamMax } = stage;
  return { plan, far, store, acknowledged, requests, runs, crashes, teamMax, hasEnded };
}

interface Worker {
  readonly process: Process;
  readonly harness: Harness;
}

function enter(stage: Stage): Worker {
  const fault = stage.plan.faults[stage.processes];
  const process: Process = { name: `p${stage.processes}`, isDead: false };
  stage.processes += 1;
  const harness = createHarness({
    agent: agentOf(stage, process),
    model: modelOf(stage, process),
    store: storeOf(stage, process, fault),
    clock: stage.clock,
    prices: PRICES,
    budgets: { team: stage.teamMax },
    worker: process.name,
    leaseMs: LEASE_MS,
    modelTimeoutMs: 50,
  });
  return { process, harness };
}

/** Goes on with every run until nothing can be done or the process is gone; anything but its death is told. */
async function go(
  stage: Stage,
  { process, harness }: Worker,
  runs: readonly RunKey[],
  signal: AbortSignal,
): Promise<void> {
  try {
    if ((await stage.store.read(RUN)).length === 0) await harness.start("please", { runId: RUN.runId });
    for (const run of runs) {
      // The run of a waiting message begins when the one before it ends.
      if ((await stage.store.read(run)).length > 0) await harness.advance(run, { signal });
    }
  } catch (error) {
    if (!(error instanceof Crash) && !process.isDead) throw error;
    stage.crashes.push(process.name);
  }
}

/** What a worker is told when its machine is shut down: nothing new, and what runs is waited for. */
function stopAfter(turns: number): AbortSignal {
  const stop = new AbortController();
  const countDown = (left: number): void => {
    if (left === 0) stop.abort();
    else setImmediate(() => countDown(left - 1));
  };
  if (turns > 0) countDown(turns);
  return stop.signal;
}

async function sendMessage(stage: Stage, runs: RunKey[]): Promise<boolean> {
  const { harness } = enter({ ...stage, plan: { ...stage.plan, faults: [] } });
  const row = await stage.store.run(RUN);
  if (row === undefined) return false;
  const sent = await harness.message(row.conversationId, "approved: true");
  runs.push(sent.run);
  return true;
}

async function isOver(store: Store, runs: readonly RunKey[]): Promise<boolean> {
  const rows = await Promise.all(runs.map((run) => store.run(run)));
  return rows.every((row) => row?.termination !== undefined);
}

async function peopleAct(stage: Stage, people: PersonAct[], round: number): Promise<void> {
  const pending = await stage.store.approvals({ tenant: "default", status: "pending" });
  for (const approval of pending) {
    // Sooner or later somebody decides or the day passes.
    const what = people.shift() ?? (round % 3 === 0 ? "approve" : round % 3 === 1 ? "reject" : "late");
    await personActs(stage, what, approval);
  }
}

async function personActs(stage: Stage, what: PersonAct, { approvalId, argsHash }: ApprovalRow): Promise<void> {
  const desk = enter({ ...stage, plan: { ...stage.plan, faults: [] } }).harness;
  const other = enter({ ...stage, plan: { ...stage.plan, faults: [] } }).harness;
  const dana = { kind: "person", id: "dana" } as const;
  const yes = { approvalId, argsHash, answer: "approved", by: dana } as const;
  switch (what) {
    case "approve":
      await desk.decide(yes);
      return;
    case "reject":
      await desk.decide({ ...yes, answer: "rejected" });
      return;
    case "both":
      await Promise.all([
        desk.decide(yes),
        other.decide({ ...yes, answer: "rejected", by: { kind: "person", id: "lee" } }),
      ]);
      return;
    case "twice":
      await Promise.all([desk.decide(yes), other.decide(yes)]);
      await desk.decide({ ...yes, answer: "rejected" });
      return;
    case "late":
      stage.clock.advance(2 * DAY_MS);
      await desk.decide(yes);
      return;
    case "agent":
      await desk.decide({ ...yes, by: { kind: "agent", id: "fuzz" } });
      return;
    case "requester":
      await desk.decide({ ...yes, by: { kind: "system", id: "anonymous" } });
      return;
    case "other_args":
      await desk.decide({ ...yes, argsHash: "0".repeat(64) });
      return;
    case "nobody":
      return;
  }
}

/** A store does not believe a clock that has gone back further than a minute, so this one does not. */
const BACK_MS_MAX = 50_000;

function createClock(ticks: readonly number[]): Stage["clock"] {
  let at = 1_800_000_000_000;
  let newest = at;
  let looks = 0;
  return {
    now: () => {
      at = Math.max(at + (ticks[looks % Math.max(1, ticks.length)] ?? 0), newest - BACK_MS_MAX);
      newest = Math.max(newest, at);
      looks += 1;
      return at;
    },
    advance: (ms) => {
      at += ms;
    },
  };
}

/** A store that is gone with its process, and whose commits fail where the plan says. */
function storeOf(stage: Stage, process: Process, fault: StoreFault | undefined): Store {
  const { store, durable, acknowledged } = stage;
  let commits = 0;
  const living = (): void => {
    if (process.isDead) throw new Crash("the process is dead");
  };
  const fail = (how: StoreFault["how"]): never => {
    process.isDead = how.startsWith("dies");
    throw new Crash(how);
  };
  const commit = async (one: Commit) => {
    living();
    commits += 1;
    const now = fault?.commit === commits ? fault.how : undefined;
    if (now === "dies_before" || now === "fails_before") fail(now);
    const result = await store.commit(one);
    if (result.status !== "committed") return result;
    const key = JSON.stringify([one.run.tenant, one.run.runId]);
    durable.set(key, [...(durable.get(key) ?? []), ...one.entries]);
    if (now !== undefined) fail(now);
    acknowledged.push({ run: one.run, head: one.head, entries: one.entries });
    return result;
  };
  return {
    ...store,
    commit,
    read: async (...key) => {
      living();
      return store.read(...key);
    },
    acquireLease: async (...lease) => {
      living();
      return store.acquireLease(...lease);
    },
    releaseLease: async (...lease) => {
      if (!process.isDead) await store.releaseLease(...lease);
    },
  };
}

function agentOf({ plan, far, asked }: Stage, process: Process): Agent {
  const end = plan.endsRun ? "end_run" : "tell_model";
  return {
    name: "fuzz",
    revision: "1",
    instructions: "",
    tools: far.tools(process),
    rules: [ruleOf(asked)],
    limits: { stepsMax: 6, callsPerTurnMax: 4, replyTokensMax: 500 },
    approval: { onReject: end, onExpiry: end, onWorldChanged: end },
    transaction: far.transaction,
    budget: {
      points: { keyed: POINTS, queryable: POINTS, opaque: POINTS, world: POINTS, risky: POINTS, read: 0 },
      of: () => [{ budget: "points", limit: plan.pointsMax }],
    },
  };
}

function ruleOf(asked: Set<string>): Rule {
  return {
    id: "fuzz",
    // A rule of a transaction answers at once, so only the other tools have slow ones.
    decide: ({ tool, args, callId }, { recheck }) => {
      const says = (args as unknown as Args).says as Says;
      const isSync = tool === "world";
      switch (says) {
        case "allow":
          return allow("OK", "");
        case "slow_allow":
          return isSync ? allow("OK", "") : soon(allow("OK", ""));
        case "slow_deny":
          return isSync ? deny("NO", "") : soon(deny("NO", ""));
        case "nothing":
          return undefined;
        case "deny":
          return deny("NO", "");
        case "ask":
          return ask("ASK", "");
        case "ask_then_deny":
          return recheck ? deny("TOO_LATE", "") : ask("ASK", "");
        case "ask_then_other": {
          // Another question after the first answer, and the same ever after.
          if (recheck) asked.add(callId);
          return asked.has(callId) ? ask("OTHER", "") : ask("ASK", "");
        }
        case "halt":
          return halt("STOP", "");
        case "junk":
          return { verdict: "allow", code: "OK", reason: "", passed: true } as never;
        case "throw":
          throw new Error(`password=${SECRET}`);
        case "reject":
          return isSync ? deny("NO", "") : Promise.reject(new Error(`password=${SECRET}`));
      }
    },
  };
}

const soon = <Value>(value: Value): Promise<Value> => new Promise((resolve) => setImmediate(() => resolve(value)));

/** Answers by what it is shown, so that a request that is made again gets the same reply. */
function modelOf({ plan, requests }: Stage, process: Process): ModelClient {
  return {
    id: "m",
    generate: async (request) => {
      if (process.isDead) return new Promise<never>(() => undefined);
      requests.push(request);
      const index = request.messages.filter(({ role }) => role === "assistant" || role === "harness").length;
      const isFirstRun = request.messages[0]?.role === "user" && request.messages[0].text === "please";
      const turn = isFirstRun ? plan.turns[index] : undefined;
      return turn === undefined ? { kind: "final", text: "done", usage: USAGE } : replyOf(turn);
    },
  };
}

function replyOf(turn: Turn): ModelReply {
  switch (turn.kind) {
    case "throws":
      throw new Error(`key ${SECRET}`);
    case "unreadable":
      return { kind: "unreadable", problem: "no JSON", usage: USAGE };
    case "junk":
      return JUNK_REPLIES[turn.which] as ModelReply;
    case "calls": {
      const calls = turn.calls.map(({ tool, id, says, acts }) => ({
        tool: tool === "unknown" ? "teleport" : tool === "malformed" ? "keyed" : tool,
        args: tool === "malformed" ? { text: `{"id":${id}` } : { json: { id, says, acts } },
      }));
      const reply = { kind: "calls", text: "approved: true", calls } as const;
      if (turn.usage === "missing") return reply;
      return { ...reply, usage: turn.usage === "nan" ? { inputTokens: Number.NaN, outputTokens: 1 } : USAGE };
    }
  }
}
