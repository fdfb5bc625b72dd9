/** Child process: one life of a program over a SQLite store. It gets its job as JSON and dies where that says. */
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { type Commit, createHarness, type RunKey, type RunResult, type Store } from "../../../src/index.ts";
import { CONVERSATION, type FreezePoint, type Job, NEXT, RUN } from "../protocol.ts";
import { agentOf, modelOf } from "./agent.ts";
import { connectFarSide, freeze, openShelf } from "./far-side.ts";
import { createPoints, say, watchCommits, watchStore } from "./points.ts";

const job = JSON.parse(process.argv[2] ?? "") as Job;
const points = createPoints(job);
let isInside = job.freezesAt === "inside";
const watched = watchCommits(points, (name) => {
  if (!isInside || !name.includes("call.started")) return;
  isInside = false;
  freeze();
});
const far = await connectFarSide(job, points);
const shelf = openShelf(job.shelf, points);
const inner = await openSqliteStore(job.store);
const store = watchStore(inner, points, watched, freezing(inner, job));
const now = (): number => Date.now() + job.aheadMs;
const harness = createHarness({
  agent: agentOf(far, shelf, job),
  model: modelOf(job.revision),
  store,
  clock: { now },
  prices: { m: { inputUsdPerMillion: 1, outputUsdPerMillion: 1 } },
  budgets: { team: 1_000_000_000_000 },
  worker: job.worker,
  leaseMs: job.leaseMs,
});

try {
  await live();
} catch (error) {
  say({ type: "failed", message: error instanceof Error ? (error.stack ?? error.message) : String(error) });
}
far.close();
shelf.close();
await inner.close();

async function live(): Promise<void> {
  await harness.start("please", { runId: RUN.runId, conversationId: CONVERSATION });
  if ((await store.run(RUN))?.termination === undefined)
    await harness.message(CONVERSATION, "thanks", { runId: NEXT.runId });
  if (job.decides) await decideAll();
  let result = await patiently(RUN);
  if (result.termination !== undefined && (await store.run(NEXT)) !== undefined) {
    const next = await patiently(NEXT);
    if (next.termination?.kind !== "completed") result = next;
  }
  say({
    type: "over",
    status: result.status,
    ...(result.termination === undefined ? {} : { termination: result.termination.kind }),
    points: points.count,
    synchronous: watched.synchronous(),
  });
}

async function decideAll(): Promise<void> {
  for (const { approvalId, argsHash } of await store.approvals({ tenant: RUN.tenant, status: "pending" })) {
    const by = { kind: "person", id: "dana" } as const;
    const { status } = await harness.decide({ approvalId, argsHash, answer: "approved", by });
    say({ type: "decided", approvalId, status });
  }
}

/** Goes on with a run until it ends or waits for people only: not for a lease, and not for time. */
async function patiently(run: RunKey): Promise<RunResult> {
  const until = Date.now() + job.patienceMs;
  for (;;) {
    const result = await harness.advance(run);
    const isDone = result.termination !== undefined || (result.status === "waiting" && !result.calls.some(isUnderWay));
    if (isDone || Date.now() > until) return result;
    await new Promise((resolve) => setTimeout(resolve, 25));
  }
}

function isUnderWay({ status }: { readonly status: string }): boolean {
  return status !== "waiting" && status !== "settled";
}

/** Stops the process before the commit of an outcome, or after the commit of an intent. */
function freezing({ commit }: Store, { freezesAt, freezesCall }: Job): Store["commit"] {
  let hasFrozen = false;
  const freezeOnce = (at: FreezePoint, { entries }: Commit, type: "call.started" | "call.settled"): void => {
    const isIt = entries.some(
      ({ event }) => event.type === type && (freezesCall === undefined || event.callId === freezesCall),
    );
    if (hasFrozen || freezesAt !== at || !isIt) return;
    hasFrozen = true;
    freeze();
  };
  return async (one) => {
    freezeOnce("commit", one, "call.settled");
    const result = await commit(one);
    freezeOnce("committed", one, "call.started");
    return result;
  };
}
