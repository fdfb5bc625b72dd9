import { setTimeout as sleep } from "node:timers/promises";
import pg from "pg";
import { afterAll, beforeAll, expect, it } from "vitest";
import { createPgBossWaker, type PgBossWaker } from "../../../src/adapters/postgres/pg-boss-waker.ts";
import type { Wake } from "../../../src/engine/index.ts";
import { wakerConformance } from "../../../src/testing/index.ts";
import { describeWithPostgres, type PrivatePostgres, startPostgres } from "./private-postgres.ts";

const DAY_MS = 86_400_000;

let postgres: PrivatePostgres;
let schemas = 0;

describeWithPostgres("the waker on PostgreSQL", () => {
  beforeAll(async () => {
    postgres = await startPostgres({ settings: { fsync: "off" } });
  }, 120_000);
  afterAll(() => postgres[Symbol.asyncDispose]());

  const open = async () => {
    schemas += 1;
    const options = { connectionString: postgres.url, schema: `wakes_${schemas}`, pollMs: 10, redeliveryMs: 300 };
    const opened: PgBossWaker[] = [];
    const make = (): PgBossWaker => {
      const waker = createPgBossWaker(options);
      opened.push(waker);
      return waker;
    };
    return {
      waker: make(),
      another: async () => make(),
      close: async () => {
        await Promise.all(opened.map((waker) => waker.close()));
      },
    };
  };

  for (const { name, run } of wakerConformance(open)) {
    it(name, run, 60_000);
  }

  it("a wake of a later day lies apart until it is due, once, and waits for the clock that its handler reads", async () => {
    const now = Date.now() - DAY_MS;
    const clock = { now: () => now };
    await using waker = createPgBossWaker({ connectionString: postgres.url, schema: "wakes_later", clock, pollMs: 10 });
    // A day later by the waker's clock, and due at once by the database's.
    const later: Wake = { run: { tenant: "t", runId: "r" }, why: "expiry", key: "k", notBefore: now + DAY_MS };
    await waker.wake(later);
    await waker.wake(later);
    expect(await jobsIn("wakes_later")).toEqual([{ name: "belay-later", count: 1 }]);
    const seen: Wake[] = [];
    const served = await waker.serve(async (wake) => {
      seen.push(wake);
    });
    // Moved, but early by the clock that the handler reads: it is not delivered yet.
    await until(async () => (await jobsIn("wakes_later"))[0]?.name === "belay-wakes");
    await sleep(100);
    expect(seen).toEqual([]);
    await served.close();
  });

  it("many processes may make its tables at the same moment", async () => {
    const options = { connectionString: postgres.url, schema: "wakes_together", pollMs: 10 };
    const wakers = Array.from({ length: 4 }, () => createPgBossWaker(options));
    await Promise.all(
      wakers.map((waker, number) =>
        waker.wake({ run: { tenant: "t", runId: `r-${number}` }, why: "start", key: `k-${number}` }),
      ),
    );
    expect(await jobsIn("wakes_together")).toEqual([{ name: "belay-wakes", count: 4 }]);
    await Promise.all(wakers.map((waker) => waker.close()));
  });

  it("never shows the connection string, and says what is wrong", async () => {
    const secret = "s3cr3t-pw";
    expect(() => createPgBossWaker({ connectionString: `postgres//u:${secret}@h/d` })).toThrow(
      expect.objectContaining({ code: "BELAY_WAKER_INVALID", message: expect.not.stringContaining(secret) }),
    );
    expect(() => createPgBossWaker({ connectionString: postgres.url, schema: 'a"b' })).toThrow(/no plain name/);
    expect(() => createPgBossWaker({ connectionString: postgres.url, concurrency: 0 })).toThrow(/concurrency is 0/);
    await using nobody = createPgBossWaker({ connectionString: `postgres://u:${secret}@127.0.0.1:1/d` });
    const wake: Wake = { run: { tenant: "t", runId: "r" }, why: "start", key: "k" };
    await expect(nobody.wake(wake)).rejects.toThrow(
      expect.objectContaining({ code: "BELAY_WAKER_FAILED", message: expect.not.stringContaining(secret) }),
    );
    await nobody.close();
    await expect(nobody.wake(wake)).rejects.toMatchObject({ code: "BELAY_WAKER_CLOSED" });
  });

  it("a wake that fails ten times is shown to a person and goes on coming", async () => {
    const alarms: string[] = [];
    let attempts = 0;
    await using waker = createPgBossWaker({
      ...{ connectionString: postgres.url, schema: "wakes_stuck", pollMs: 5, redeliveryMs: 20 },
      onAlarm: (alarm) => alarms.push(alarm.code),
    });
    const served = await waker.serve(async () => {
      attempts += 1;
      throw new Error("never");
    });
    await waker.wake({ run: { tenant: "t", runId: "r" }, why: "start", key: "k" });
    await until(() => attempts > 10);
    expect(alarms).toContain("WAKE_STUCK");
    await served.close();
  }, 60_000);
});

/** What lies in the queues of a schema. */
async function jobsIn(schema: string): Promise<readonly { readonly name: string; readonly count: number }[]> {
  const client = new pg.Client({ connectionString: postgres.url });
  await client.connect();
  try {
    return (await client.query(`SELECT name, count(*)::int AS count FROM ${schema}.job GROUP BY name`)).rows;
  } finally {
    await client.end();
  }
}

async function until(condition: () => boolean | Promise<boolean>): Promise<void> {
  for (let waited = 0; !(await condition()); waited += 5) {
    if (waited > 20_000) throw new Error("what was waited for did not come");
    await sleep(5);
  }
}
