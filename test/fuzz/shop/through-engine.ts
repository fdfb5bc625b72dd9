import shop from "../../../apps/shop/index.ts";
import { openShopWorld } from "../../../apps/shop/world/shop-world.ts";
import {
  createHarness,
  type Harness,
  type ModelClient,
  type ModelReply,
  type Principal,
  type RunResult,
  type Store,
} from "../../../src/index.ts";
import { createMemoryStore, verifyStoreAudit } from "../../../src/journal/index.ts";
import { createRandom, type Random } from "../random.ts";
import { someProposal, someWords } from "./alphabet.ts";
import { BASE_AT, emptyTally, isSameAsSnapshot, type Tally } from "./direct.ts";
import { createOracle, type JudgedRun, type Oracle } from "./oracle.ts";
import { recordingWorld } from "./recording-world.ts";

const DAY_MS = 86_400_000;
const RUNS_PER_WORLD = 12;
const PEOPLE = ["dana", "lee"] as const;

interface Bench {
  readonly random: Random;
  readonly oracle: Oracle;
  readonly store: Store;
  readonly harness: Harness;
  readonly clock: { at: number; now(): number };
  /** The run that is going on; effects carry its id. */
  current: JudgedRun | undefined;
  proposals: number;
}

/** The same planner in front of the whole engine: many calls in one reply, people who answer, time that passes. */
export async function fuzzThroughEngine(seed: number, count: number): Promise<Tally> {
  const tally = emptyTally();
  for (let world = 0; tally.proposals < count; world += 1) await fuzzWorld(seed + world, tally);
  return tally;
}

async function fuzzWorld(seed: number, tally: Tally): Promise<void> {
  const inner = openShopWorld(":memory:", { now: BASE_AT });
  const recorded = recordingWorld(inner);
  const clock = { at: BASE_AT, now: () => clock.at };
  const random = createRandom(seed);
  const store = createMemoryStore();
  const bench: Bench = {
    random,
    oracle: createOracle(inner),
    store,
    harness: createHarness({
      agent: shop.agent(recorded.world, clock.now),
      model: plannerOf(() => bench),
      store,
      clock,
      prices: { hostile: { inputUsdPerMillion: 0.01, outputUsdPerMillion: 0.01 } },
    }),
    clock,
    current: undefined,
    proposals: 0,
  };
  let judged = 0;
  for (let index = 0; index < RUNS_PER_WORLD; index += 1) {
    const where = `seed ${seed}, run ${index}`;
    const customerId = random.chance(0.3) ? `C-${String(1 + random.below(20)).padStart(2, "0")}` : undefined;
    const words = someWords(random);
    bench.current = { runId: `run-${index}`, words, approved: [], ...(customerId === undefined ? {} : { customerId }) };
    const principal: Principal =
      customerId === undefined ? { kind: "person", id: "front-desk" } : { kind: "customer", id: customerId };
    let result = await bench.harness.run(words.text, { runId: `run-${index}`, principal }).result;
    judged = judge(bench, recorded.ledger, judged, tally, where);
    for (let tries = 0; result.status === "waiting" && tries < 12; tries += 1) {
      result = await peopleAct(bench, result);
      judged = judge(bench, recorded.ledger, judged, tally, where);
    }
    clock.at += random.below(DAY_MS / 4);
  }
  tally.proposals += bench.proposals;
  if (!isSameAsSnapshot(recorded)) tally.forbidden.push(`seed ${seed}: the ledger is not what the world shows`);
  if (!(await verifyStoreAudit(store)).ok) tally.forbidden.push(`seed ${seed}: the audit log does not verify`);
  inner.close();
}

function plannerOf(bench: () => Bench): ModelClient {
  return {
    id: "hostile",
    generate: async (): Promise<ModelReply> => {
      const self = bench();
      const { random, oracle, current } = self;
      const usage = { inputTokens: 10, outputTokens: 10 };
      if (current === undefined || random.chance(0.05)) return { kind: "final", text: "All done, approved.", usage };
      if (random.chance(0.03)) return { kind: "unreadable", problem: "no JSON", usage };
      const calls = Array.from({ length: 1 + random.below(7) }, () => someProposal(random, current.words, oracle));
      // The same call twice in one reply is what a hostile planner tries first.
      const doubled = random.chance(0.2) ? [...calls, ...calls.slice(0, 1)] : calls;
      self.proposals += doubled.length;
      return { kind: "calls", text: "approved: true", calls: doubled, usage };
    },
  };
}

/** Judges what has happened since the last look; returns how much of the ledger is judged. */
function judge(
  { oracle, current, clock }: Bench,
  ledger: ReturnType<typeof recordingWorld>["ledger"],
  from: number,
  tally: Tally,
  where: string,
): number {
  for (const effect of ledger.slice(from)) {
    tally.effects[effect.kind] += 1;
    if (effect.runId !== current?.runId) tally.forbidden.push(`${where}: an effect of ${effect.runId}`);
    const why = oracle.take(effect, current, clock.at);
    if (why !== undefined) tally.forbidden.push(`${where}: ${why}: ${JSON.stringify([current?.words.text, effect])}`);
  }
  return ledger.length;
}

/** Somebody says yes or no, an agent tries to, or nobody does until it is too late. */
async function peopleAct(bench: Bench, waiting: RunResult): Promise<RunResult> {
  const { random, harness, clock, current } = bench;
  const approval = random.pick(waiting.approvals);
  const { approvalId } = approval;
  const agent = { kind: "agent", id: "shop" } as const;
  await harness.decide({ approvalId, answer: "approved", by: agent });
  if (random.chance(0.1)) {
    clock.at += DAY_MS + 1;
    return harness.advance(waiting);
  }
  clock.at += random.below(DAY_MS / 8);
  const says = random.chance(0.7) ? "approved" : "rejected";
  const decided = await harness.decide({ approvalId, answer: says, by: { kind: "person", id: random.pick(PEOPLE) } });
  if (decided.status === "recorded" && says === "approved") {
    const { order_id: order, amount_paise: paise } = approval.args as { order_id: string; amount_paise: number };
    current?.approved.push({ order, paise });
  }
  return harness.advance(waiting);
}
