import { compaction } from "../../src/context/index.ts";
import { createUndo } from "../../src/gate/index.ts";
import { createHarness, type ModelReply } from "../../src/index.ts";
import { calls, DANA, final, refundTool, searchTool, world } from "../engine/support.ts";

const PRINCIPAL = { kind: "customer", id: "c-1" } as const;
const small = calls(["refund", { order: "A", cents: 100 }]);
const large = calls(["refund", { order: "B", cents: 5000 }], ["search", { q: "ünïcode ⚖" }]);

type World = ReturnType<typeof world>;

/** A world whose ids and times are the same each time that it is made. */
function fixed(replies: readonly ModelReply[], change: Parameters<typeof world>[1] = {}): World {
  let made = 0;
  const newId = (prefix: string) => {
    made += 1;
    return `${prefix}_${made}`;
  };
  return world(replies, { ...change, options: { worker: "golden", newId, ...change.options } });
}

async function start(setup: World, input = "Please refund my order"): Promise<void> {
  await setup.harness.run(input, { runId: "r", conversationId: "cnv", principal: PRINCIPAL }).result;
}

async function paused(): Promise<World> {
  const setup = fixed([small, large]);
  await start(setup);
  await setup.harness.message("cnv", "and hurry", { runId: "next", principal: PRINCIPAL });
  return setup;
}

async function finished(): Promise<World> {
  const setup = fixed([small, large, final("Done, ünïcode ⚖.")], {
    agent: { budget: { points: { refund: 3 }, of: () => [{ budget: "team", limit: 100 }] } },
  });
  await start(setup);
  const [row] = await setup.options.store.approvals({ tenant: "default" });
  setup.clock.advance(3000);
  await setup.harness.decide({ approvalId: row?.approvalId ?? "", answer: "approved", by: DANA, note: "seen" });
  await setup.harness.advance({ tenant: "default", runId: "r" });
  return setup;
}

async function inDoubt(): Promise<World> {
  const setup = fixed([small], {
    tools: (ledger) => [
      refundTool(ledger, {
        level: "write",
        recovery: "opaque",
        execute: () => {
          throw new Error("connection lost");
        },
      }),
    ],
    agent: { budget: { points: { refund: 3 }, of: () => [{ budget: "team", limit: 100 }] } },
  });
  await start(setup);
  return setup;
}

async function reconciled(): Promise<World> {
  const setup = await inDoubt();
  const run = { tenant: "default", runId: "r" };
  await setup.harness.reconcile({ run, callId: "c1.1", outcome: "happened", value: { id: 7 }, by: DANA, note: "seen" });
  return setup;
}

async function rolledBack(): Promise<World> {
  const tools: NonNullable<Parameters<typeof world>[1]>["tools"] = (ledger) => [
    refundTool(ledger, { level: "write", compensate: () => ({ back: true }) }),
  ];
  const setup = fixed([small, final("Done.")], { tools });
  await start(setup);
  const { agent, store, clock, newId } = setup.options;
  const rules = [{ id: "all", decide: () => ({ verdict: "allow", code: "OK", reason: "all" }) as const }];
  const undo = createUndo({
    agent: { ...agent, rules },
    store,
    worker: "golden",
    ...(clock && { clock }),
    ...(newId && { newId }),
  });
  await undo.undo({ tenant: "default", runId: "r" }, { by: { kind: "person", id: "lee" } });
  return setup;
}

async function compacted(): Promise<World> {
  const search = calls(["search", { q: "x".repeat(2000) }]);
  const other = calls(["search", { q: "y".repeat(2000) }]);
  const setup = fixed([search, other, final("Done.")], {
    tools: (ledger) => [searchTool(ledger)],
    agent: { compaction: compaction({ tokenThreshold: 300, keepTurns: 1 }) },
  });
  await start(setup);
  return setup;
}

async function retried(): Promise<World> {
  const setup = fixed([]);
  const model = {
    id: "busy",
    generate: () => Promise.reject(Object.assign(new Error("busy"), { status: 429, retryAfterMs: 60_000 })),
  };
  await createHarness({ ...setup.options, model }).run("go", { runId: "r", principal: PRINCIPAL }).result;
  return setup;
}

/** Each makes runs of a kind that every later version must still read. */
export const SCENARIOS: Readonly<Record<string, () => Promise<World>>> = {
  paused,
  finished,
  "in-doubt": inDoubt,
  reconciled,
  "rolled-back": rolledBack,
  compacted,
  retried,
};
