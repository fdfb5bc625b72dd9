import shop from "../../../apps/shop/index.ts";
import { openShopWorld, type ShopWorld } from "../../../apps/shop/world/shop-world.ts";
import type { Agent, Decision, JsonValue, Principal, RequestedCall, RuleCall } from "../../../src/index.ts";
import { decideCall, decideCallSync } from "../../../src/policy/index.ts";
import { createToolExecutor, readArguments, type ToolContext, type ToolExecutor } from "../../../src/tool/index.ts";
import { createRandom, type Random } from "../random.ts";
import { someProposal, someWords } from "./alphabet.ts";
import { createOracle, type JudgedRun, type Oracle, SHOP_ORDERS } from "./oracle.ts";
import { type RecordingWorld, recordingWorld } from "./recording-world.ts";

export const BASE_AT = 1_800_000_000_000;

/** The shop's rules and tools without the engine around them: what the engine does with one call, in a few lines. */
export interface Desk extends RecordingWorld {
  readonly agent: Agent;
  readonly executor: ToolExecutor;
  readonly oracle: Oracle;
  /** The orders as they were before anything happened. */
  readonly seed: Pick<ShopWorld, "order" | "emailOf">;
  readonly close: () => void;
}

/** `without` leaves one rule out, to show that the judges miss it. */
export function openDesk(without?: string): Desk {
  const inner: ShopWorld = openShopWorld(":memory:", { now: BASE_AT });
  const recorded = recordingWorld(inner);
  const whole = shop.agent(recorded.world, () => BASE_AT);
  const agent: Agent = { ...whole, rules: whole.rules.filter(({ id }) => id !== without) };
  const oracle = createOracle(inner);
  const seed = { order: first((id) => inner.order(id)), emailOf: first((id) => inner.emailOf(id)) };
  return { ...recorded, agent, executor: createToolExecutor(agent.tools), oracle, seed, close: () => inner.close() };
}

/** What a look-up of an order said at the beginning. */
function first<Value>(read: (id: string) => Value): (id: string) => Value {
  const known = new Map(SHOP_ORDERS.map((id) => [id, read(id)]));
  return (id) => (known.has(id) ? (known.get(id) as Value) : read("O-0000"));
}

export type Handled = "refused" | "denied" | "rejected" | "failed" | "done" | "replayed";

export interface Asking {
  readonly run: JudgedRun;
  readonly principal: Principal;
  readonly now: number;
  readonly callId: string;
  /** What a person says when they are asked. */
  readonly person: () => "approved" | "rejected";
}

class TakeBack extends Error {}

/** One proposal, from its text to its effect or refusal. Async tools and rules do not exist in the shop. */
export function handle(desk: Desk, request: RequestedCall, asking: Asking): Handled {
  const { executor, agent } = desk;
  const contract = executor.listTools().find(({ name }) => name === request.tool);
  const read = readArguments(request.args);
  if (contract === undefined || !read.ok) return "refused";
  const checked = executor.check(request.tool, read.args);
  if (checked instanceof Promise || !checked.ok) return "refused";
  const call: RuleCall = { callId: asking.callId, tool: request.tool, args: checked.args, level: contract.level };
  const decision = decide(desk, call, asking, false);
  if (decision.verdict === "ask") {
    if (asking.person() === "rejected") return "rejected";
    const { order_id: order, amount_paise: paise } = checked.args as { order_id: string; amount_paise: number };
    asking.run.approved.push({ order, paise });
    if (!passes(decide(desk, call, asking, true), decision)) return "denied";
  } else if (decision.verdict !== "allow") {
    return "denied";
  }
  const context = toolContext(asking);
  if (!contract.inTransaction) return finished(executor.execute(call.tool, call.args, context));
  try {
    return (agent.transaction ?? ((work) => work()))(() => {
      const now = decideCallSync(agent.rules, call, ruleContext(asking, decision.verdict === "ask"));
      if (!passes(now, decision)) throw new TakeBack("world_changed");
      const result = finished(executor.execute(call.tool, call.args, context));
      if (result === "failed") throw new TakeBack("failed");
      return result;
    });
  } catch (error) {
    if (error instanceof TakeBack) return "failed";
    throw error;
  }
}

function decide(desk: Desk, call: RuleCall, asking: Asking, recheck: boolean): Decision {
  const decision = decideCall(desk.agent.rules, call, ruleContext(asking, recheck));
  if (decision instanceof Promise) throw new Error("a rule of the shop answered later");
  return decision;
}

function passes(now: Decision, before: Decision): boolean {
  return now.verdict === "allow" || (now.verdict === "ask" && before.verdict === "ask" && now.code === before.code);
}

function ruleContext({ run, principal, now }: Asking, recheck: boolean) {
  const { runId, words } = run;
  return { tenant: "default", principal, runId, step: 1, input: words.text, memory: [], calls: [], now, recheck };
}

const NEVER = new AbortController().signal;

function toolContext({ run, principal, now, callId }: Asking): ToolContext {
  const idempotencyKey = `default:${run.runId}:${callId}`;
  return { runId: run.runId, tenant: "default", principal, callId, idempotencyKey, attempt: 1, now, signal: NEVER };
}

function finished(result: ReturnType<ToolExecutor["execute"]>): Handled {
  if (result instanceof Promise) throw new Error("a tool of the shop answered later");
  if (!result.ok) return "failed";
  const { replayed } = result.value as { readonly replayed?: JsonValue };
  return replayed === true ? "replayed" : "done";
}

export interface Tally {
  proposals: number;
  readonly handled: Record<Handled, number>;
  readonly effects: Record<"refund" | "cancel" | "email", number>;
  readonly forbidden: string[];
}

export function emptyTally(): Tally {
  return {
    proposals: 0,
    handled: { refused: 0, denied: 0, rejected: 0, failed: 0, done: 0, replayed: 0 },
    effects: { refund: 0, cancel: 0, email: 0 },
    forbidden: [],
  };
}

const WORLD_PROPOSALS = 320;
const RUN_PROPOSALS = 20;

/** Lets a hostile planner propose `count` calls, and judges everything that happens. */
export function fuzzDirectly(seed: number, count: number, without?: string): Tally {
  const tally = emptyTally();
  for (let world = 0; tally.proposals < count; world += 1) {
    const random = createRandom(seed + world);
    const desk = openDesk(without);
    try {
      for (let done = 0; done < WORLD_PROPOSALS && tally.proposals < count; done += RUN_PROPOSALS) {
        fuzzRun(desk, random, tally, `seed ${seed + world}`, `run-${done}`);
      }
      if (!isSameAsSnapshot(desk)) tally.forbidden.push(`seed ${seed + world}: the ledger is not what the world shows`);
    } finally {
      desk.close();
    }
  }
  return tally;
}

function fuzzRun(desk: Desk, random: Random, tally: Tally, where: string, runId: string): void {
  const words = someWords(random);
  const customerId = random.chance(0.3) ? `C-${String(1 + random.below(20)).padStart(2, "0")}` : undefined;
  const run: JudgedRun = { runId, words, approved: [], ...(customerId === undefined ? {} : { customerId }) };
  const principal: Principal =
    customerId === undefined ? { kind: "person", id: "front-desk" } : { kind: "customer", id: customerId };
  // Days pass between runs, so that orders come to the end of their window.
  const now = BASE_AT + random.below(4 * 86_400_000);
  const proposed: RequestedCall[] = [];
  const usedKeys = new Set<string>();
  for (let index = 0; index < RUN_PROPOSALS; index += 1) {
    if (random.chance(0.05)) staffActs(desk, random, now);
    const isRepeat = proposed.length > 0 && random.chance(0.1);
    const request = isRepeat ? random.pick(proposed) : someProposal(random, words, desk.oracle);
    proposed.push(request);
    const before = desk.ledger.length;
    const person = () => (random.chance(0.5) ? ("approved" as const) : ("rejected" as const));
    const handled = handle(desk, request, { run, principal, now, callId: `c${index}`, person });
    tally.proposals += 1;
    tally.handled[handled] += 1;
    const happened = desk.ledger.slice(before);
    const isWrite = request.tool !== "get_order" && request.tool !== "search_orders";
    if (happened.length !== (handled === "done" && isWrite ? 1 : 0)) {
      tally.forbidden.push(`${where}: ${handled} with ${happened.length} effects: ${JSON.stringify(request)}`);
    }
    const key = happened.length === 0 ? "" : `${request.tool} ${keyOf(request)}`;
    if (usedKeys.has(key)) tally.forbidden.push(`${where}: ${key} happened twice`);
    if (key !== "") usedKeys.add(key);
    for (const effect of happened) {
      tally.effects[effect.kind] += 1;
      const why = desk.oracle.take(effect, run, now);
      if (why !== undefined) tally.forbidden.push(`${where}: ${why}: ${JSON.stringify([words.text, request])}`);
    }
    // What was approved and not made is not approved for the next one.
    run.approved.length = 0;
  }
}

/** The key that the planner chose, read from what it sent. */
function keyOf({ args }: RequestedCall): string {
  const value: unknown = "text" in args ? JSON.parse(args.text) : args.json;
  return String((value as { idempotency_key?: unknown }).idempotency_key);
}

/** Staff refund and cancel in between; they may do what an agent may not. */
export function staffActs(desk: Desk, random: Random, at: number): void {
  const order = random.pick(SHOP_ORDERS);
  const before = desk.ledger.length;
  if (random.chance(0.3)) desk.world.cancel(order, { at });
  else if (desk.oracle.remainingPaise(order) > 100) {
    const paise = random.pick([100, desk.oracle.remainingPaise(order)]);
    desk.world.insertRefund({ orderId: order, amountPaise: paise, at });
  }
  for (const effect of desk.ledger.slice(before)) desk.oracle.take(effect, undefined, at);
}

/** The ledger from below the tools against what the database says. */
export function isSameAsSnapshot({ ledger, world }: RecordingWorld): boolean {
  const { refunds, status, outbox } = world.snapshot();
  const made: Record<string, number[]> = {};
  for (const effect of ledger) {
    if (effect.kind === "refund") made[effect.order] = [...(made[effect.order] ?? []), effect.paise];
  }
  const cancelled = ledger.flatMap((effect) => (effect.kind === "cancel" ? [effect.order] : []));
  const mails = ledger.flatMap((effect) => (effect.kind === "email" ? [`${effect.order} ${effect.to}`] : []));
  const text = (value: unknown) => JSON.stringify(value, (_key, each) => sorted(each));
  return (
    text(made) === text(refunds) &&
    text(cancelled.toSorted()) === text(Object.keys(status).toSorted()) &&
    text(mails) === text(outbox.map(({ order, to }) => `${order} ${to}`))
  );
}

function sorted(value: unknown): unknown {
  return typeof value === "object" && value !== null && !Array.isArray(value)
    ? Object.fromEntries(Object.entries(value).toSorted(([one], [other]) => (one < other ? -1 : 1)))
    : value;
}
