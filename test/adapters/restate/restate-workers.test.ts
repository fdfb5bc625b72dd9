import { setTimeout as sleep } from "node:timers/promises";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { postgresFolder } from "../../../scripts/ensure-postgres.ts";
import { createRestateWaker } from "../../../src/adapters/restate/index.ts";
import { createFleet, type WorkerTask } from "../postgres/chaos/fleet.ts";
import { openLedger } from "../postgres/chaos/ledger.ts";
import { expectExact, openOffice, untilAll } from "../postgres/chaos/office.ts";
import { type PrivatePostgres, startPostgres } from "../postgres/private-postgres.ts";
import { freePort, type PrivateRestate, restateProgram, startRestate } from "./restate-server.ts";

const found = await restateProgram();
const missing =
  "missing" in found ? found.missing : postgresFolder() === undefined ? "PostgreSQL is not installed" : "";
const title = "many workers on Restate and PostgreSQL";

describe.skipIf(missing !== "")(missing === "" ? title : `${title} (skipped: ${missing})`, () => {
  let restate: PrivateRestate;
  let postgres: PrivatePostgres;

  beforeAll(async () => {
    restate = await startRestate("program" in found ? found.program : "");
    postgres = await startPostgres();
  }, 240_000);
  afterAll(async () => {
    await restate[Symbol.asyncDispose]();
    await postgres[Symbol.asyncDispose]();
  });

  it("workers are killed at random, and Restate too", async () => {
    const { ingressUrl, adminUrl } = restate;
    const place = { ingressUrl, adminUrl, listen: { port: await freePort() } };
    await using ledger = await openLedger();
    const waker = createRestateWaker(place);
    await using office = await openOffice(postgres.url, ledger, waker);
    await using fleet = createFleet();
    const task: WorkerTask = {
      ...{ postgresUrl: postgres.url, ledgerUrl: ledger.url, revision: "1" },
      ...{ leaseMs: 1500, modelMs: 10, concurrency: 4, restate: place },
    };
    await fleet.add(task);
    await fleet.add(task);
    for (let number = 0; number < 40; number += 1) {
      await office.submit(`order-${number}`, 2);
      await sleep(20);
      if (number === 10 || number === 25) {
        const [victim] = fleet.workers;
        if (victim !== undefined) await fleet.kill(victim);
        await fleet.add(task);
      }
      if (number === 18) {
        await restate.kill();
        await restate.restart();
      }
    }
    expect(office.acknowledged.size).toBeGreaterThan(20);
    await untilAll(office, (status) => status === "done", 60_000);
    await expectExact(office, ledger);
  }, 180_000);
});
