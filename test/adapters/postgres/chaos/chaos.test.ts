import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, expect, it } from "vitest";
import { describeWithPostgres, type PrivatePostgres, startPostgres } from "../private-postgres.ts";
import { openCutProxy } from "./cut-proxy.ts";
import { createFleet, type WorkerTask } from "./fleet.ts";
import { openLedger } from "./ledger.ts";
import { expectExact, openOffice, untilAll } from "./office.ts";

/** Seconds of chaos in each case; `BELAY_CHAOS_SECONDS=600` for a long run. */
const SECONDS = Number(process.env["BELAY_CHAOS_SECONDS"] ?? "4");
const TIMEOUT_MS = 120_000 + 4000 * SECONDS;

let postgres: PrivatePostgres;

function task(ledgerUrl: string, change: Partial<WorkerTask> = {}): WorkerTask {
  return { postgresUrl: postgres.url, ledgerUrl, revision: "1", leaseMs: 3000, modelMs: 10, concurrency: 4, ...change };
}

function pick<Value>(values: readonly Value[]): Value | undefined {
  return values[Math.floor(Math.random() * values.length)];
}

describeWithPostgres("many workers on PostgreSQL, each payment made once whatever dies", () => {
  beforeAll(async () => {
    // A server that forgets what it confirmed would show losses that are not Belay's, and hide those that are.
    postgres = await startPostgres();
  }, 120_000);
  afterAll(() => postgres[Symbol.asyncDispose]());

  it(
    "workers are killed at random, and the database too",
    async () => {
      await using ledger = await openLedger();
      await using office = await openOffice(postgres.url, ledger);
      await using fleet = createFleet();
      for (let count = 0; count < 3; count += 1) await fleet.add(task(ledger.url));
      let isOver = false;
      const killing = (async () => {
        while (!isOver) {
          await sleep(400 + Math.random() * 400);
          const worker = pick(fleet.workers);
          if (worker !== undefined) await fleet.kill(worker);
          // One that starts while the database is away fails, as it should; another is started after it.
          await fleet.add(task(ledger.url)).catch(() => undefined);
        }
      })();
      const breaking = (async () => {
        await sleep(SECONDS * 400);
        await (Math.random() < 0.5 ? postgres.kill() : postgres.stop());
        await sleep(500);
        await postgres.restart();
      })();
      const end = Date.now() + SECONDS * 1000;
      for (let number = 0; Date.now() < end; number += 1) {
        await office.submit(`kill-${number}`, 2);
        await sleep(20);
      }
      isOver = true;
      await Promise.all([killing, breaking]);
      while (fleet.workers.length < 2) await fleet.add(task(ledger.url));
      expect(office.acknowledged.size).toBeGreaterThan(5);
      await untilAll(office, (status) => status === "done", 90_000);
      await expectExact(office, ledger);
    },
    TIMEOUT_MS,
  );

  it(
    "a worker is frozen and another one's network is cut, longer than anybody waits for them",
    async () => {
      await using ledger = await openLedger();
      await using office = await openOffice(postgres.url, ledger);
      await using proxy = await openCutProxy(postgres.port);
      await using fleet = createFleet();
      const behindProxy = postgres.url.replace(`:${postgres.port}/`, `:${proxy.port}/`);
      const frozen = await fleet.add(task(ledger.url));
      const cutOff = await fleet.add(task(ledger.url, { postgresUrl: behindProxy }));
      for (let number = 0; number < 40; number += 1) await office.submit(`freeze-${number}`, 2);
      await sleep(100);
      frozen.child.kill("SIGSTOP");
      proxy.cut();
      await fleet.add(task(ledger.url));
      await untilAll(office, (status) => status === "done", 60_000);
      frozen.child.kill("SIGCONT");
      proxy.mend();
      // Both wake up into a world that went on without them, and must do no harm in it.
      await office.submit("after-1", 2);
      await office.submit("after-2", 2);
      await sleep(2000);
      await untilAll(office, (status) => status === "done", 60_000);
      await expectExact(office, ledger);
      expect(cutOff.child.exitCode).toBeNull();
      expect(frozen.child.exitCode).toBeNull();
    },
    TIMEOUT_MS,
  );

  it(
    "revision 2 takes over from revision 1 worker by worker, and people answer in between",
    async () => {
      await using ledger = await openLedger();
      await using office = await openOffice(postgres.url, ledger);
      await using fleet = createFleet();
      const old = [await fleet.add(task(ledger.url)), await fleet.add(task(ledger.url))];
      for (let number = 0; number < 10; number += 1) await office.submit(`paused-${number}`, 1, 5000);
      await untilAll(office, (status) => status === "waiting", 60_000);
      for (let number = 0; number < 10; number += 1) await office.submit(`running-${number}`, 3);
      for (const worker of old) {
        await fleet.add(task(ledger.url, { revision: "2" }));
        expect(await worker.stop()).toBe(0);
        fleet.workers.splice(fleet.workers.indexOf(worker), 1);
      }
      const pending = await office.store.approvals({ tenant: "default", status: "pending" });
      expect(pending.length).toBe(10);
      for (const { approvalId } of pending) {
        const by = { kind: "person", id: "ann" } as const;
        expect(await office.harness.decide({ approvalId, answer: "approved", by })).toMatchObject({
          status: "recorded",
        });
      }
      await untilAll(office, (status) => status === "done", 60_000);
      await expectExact(office, ledger);
    },
    TIMEOUT_MS,
  );
});
