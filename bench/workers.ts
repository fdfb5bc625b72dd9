/**
 * Runs per second of 1, 2 and 4 workers on one PostgreSQL, with models of 0 ms and of 250 ms, of 1 and 2 on one SQLite
 * file, and how long after a worker's death another goes on.
 *
 * `node --conditions=belay-source bench/workers.ts [runs] [deaths]`. Everything shares this machine: workers, database,
 * and who hands the runs in.
 */

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { createPgBossWaker, createPostgresStore } from "../src/adapters/postgres/index.ts";
import { createRestateWaker } from "../src/adapters/restate/index.ts";
import { createSqliteWaker, openSqliteStore } from "../src/adapters/sqlite/index.ts";
import type { Waker } from "../src/engine/index.ts";
import { createHarness, type Harness } from "../src/index.ts";
import type { Store } from "../src/journal/index.ts";
import { createFleet, type WorkerTask } from "../test/adapters/postgres/chaos/fleet.ts";
import { payInput, paymentsAgent, paymentsModel } from "../test/adapters/postgres/chaos/payments.ts";
import { startPostgres } from "../test/adapters/postgres/private-postgres.ts";
import { freePort, restateProgram, startRestate } from "../test/adapters/restate/restate-server.ts";
import { line } from "./support.ts";

const SUBMITTERS = 16;
const SLOW_MODEL_MS = 250;

export async function benchWorkers(runs: number, deaths: number): Promise<void> {
  process.stdout.write(`${runs} runs of one tool call (2 model calls of 0 ms), ${deaths} deaths\n\n`);
  for (const workers of [1, 2]) {
    await withSqlite((office) => benchRate(`SQLite, ${workers} workers`, office, workers, runs));
  }
  for (const workers of [1, 2, 4]) {
    await withOffice(undefined, (office) =>
      benchRate(`PostgreSQL and pg-boss, ${workers} workers`, office, workers, runs),
    );
  }
  // Models take their time; then what counts is how many runs are under way at once.
  for (const workers of [1, 2, 4]) {
    await withOffice(undefined, ({ harness, task }) => {
      const office = { harness, task: { ...task, modelMs: SLOW_MODEL_MS, concurrency: 8 } };
      return benchRate(
        `the same, models of ${SLOW_MODEL_MS} ms, 8 runs a worker, ${workers} workers`,
        office,
        workers,
        runs,
      );
    });
  }
  await withOffice(undefined, (office) => benchTakeovers("pg-boss", office, deaths, "under 15 s"));
  const found = await restateProgram();
  if ("missing" in found) {
    line("takeover with Restate", "not measured", found.missing);
    return;
  }
  await using restate = await startRestate(found.program);
  const { ingressUrl, adminUrl } = restate;
  const place = { ingressUrl, adminUrl, listen: { port: await freePort() } };
  const waker = createRestateWaker(place);
  await waker.register();
  await withOffice({ waker, place }, (office) => benchTakeovers("Restate", office, deaths, "under 2 s"));
}

interface BenchOffice {
  readonly harness: Harness;
  readonly task: WorkerTask;
}

async function withOffice(
  restate: { readonly waker: Waker; readonly place: NonNullable<WorkerTask["restate"]> } | undefined,
  work: (office: BenchOffice) => Promise<void>,
): Promise<void> {
  await using postgres = await startPostgres();
  await using store = await createPostgresStore({ connectionString: postgres.url });
  await using own = createPgBossWaker({ connectionString: postgres.url });
  const waker = restate?.waker ?? own;
  const task: WorkerTask = {
    ...{ ...IDLE_TASK, postgresUrl: postgres.url },
    // As belay worker has them.
    ...(restate === undefined ? { leaseMs: 10_000 } : { leaseMs: 1200, restate: restate.place }),
  };
  await work({ harness: officeOf(store, waker), task });
}

async function withSqlite(work: (office: BenchOffice) => Promise<void>): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), "belay-bench-"));
  try {
    const sqlitePath = join(folder, "belay.db");
    await using store = await openSqliteStore(sqlitePath);
    await work({
      harness: officeOf(store, createSqliteWaker(store)),
      task: { ...IDLE_TASK, leaseMs: 10_000, sqlitePath },
    });
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

const IDLE_TASK = { postgresUrl: "", ledgerUrl: "", revision: "1", modelMs: 0, concurrency: 16 };

function officeOf(store: Store, waker: Waker): Harness {
  return createHarness({ agent: paymentsAgent("", "1"), model: paymentsModel(0), store, waker });
}

/** From the first run handed in to the last one ended. */
async function benchRate(name: string, { harness, task }: BenchOffice, workers: number, runs: number): Promise<void> {
  await using fleet = createFleet();
  for (let count = 0; count < workers; count += 1) await fleet.add(task);
  // The first run of each process makes connections and compiles code.
  await submit(harness, "warm", 4 * workers);
  await untilDone(harness.store);
  const start = performance.now();
  await submit(harness, "order", runs);
  await untilDone(harness.store);
  line(name, `${(runs / ((performance.now() - start) / 1000)).toFixed(0)} runs/s`);
}

async function submit(harness: Harness, name: string, count: number): Promise<void> {
  let next = 0;
  const one = async (): Promise<void> => {
    while (next < count) {
      next += 1;
      await harness.start(payInput(`${name}-${next}`, 1, 100));
    }
  };
  await Promise.all(Array.from({ length: SUBMITTERS }, one));
}

async function untilDone(store: Store): Promise<void> {
  while ((await store.unfinished(1)).length > 0) await sleep(10);
}

/** Time from SIGKILL of the worker in the middle of a model call to the first entry of the one that takes over. */
async function benchTakeovers(
  name: string,
  { harness, task }: BenchOffice,
  deaths: number,
  bound: string,
): Promise<void> {
  const times: number[] = [];
  for (let death = 0; death < deaths; death += 1) {
    await using fleet = createFleet();
    const first = await fleet.add({ ...task, modelMs: 60_000 });
    const run = await harness.start(payInput(`death-${death}`, 1, 100));
    const segments = async (): Promise<number> =>
      (await harness.store.read(run)).filter(({ event }) => event.type === "segment.started").length;
    while ((await segments()) < 1) await sleep(5);
    await fleet.add(task);
    // A moment between two signs of life, as a death has it.
    await sleep(Math.random() * 3000);
    const killedAt = performance.now();
    await fleet.kill(first);
    while ((await segments()) < 2) await sleep(5);
    times.push((performance.now() - killedAt) / 1000);
  }
  times.sort((one, other) => one - other);
  const median = times[Math.floor(times.length / 2)] ?? Number.NaN;
  line(`takeover with ${name}, median`, `${median.toFixed(2)} s`);
  line(`takeover with ${name}, worst`, `${(times.at(-1) ?? Number.NaN).toFixed(2)} s`, bound);
}

if (process.argv[1] === import.meta.filename) {
  await benchWorkers(Number(process.argv[2] ?? 300), Number(process.argv[3] ?? 5));
}
