import { expect, it } from "vitest";
import { rebuildPostgresProjections } from "../../../src/adapters/postgres/index.ts";
import type { RunEvent } from "../../../src/core/index.ts";
import { type CommitResult, type RunKey, type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const RUN: RunKey = { tenant: "default", runId: "shared" };

const commit = (store: Store, run: RunKey, head: number, ...events: readonly RunEvent[]) =>
  store.commit({ run, head, entries: events.map((event) => ({ at: sample.SAMPLE_AT, event })) });

async function four(open: () => Promise<Store>, work: (stores: readonly Store[]) => Promise<void>): Promise<void> {
  const stores = await Promise.all([open(), open(), open(), open()]);
  try {
    await work(stores);
  } finally {
    await Promise.all(stores.map((store) => store.close()));
  }
}

describeWithPostgres("several processes' stores on one schema", () => {
  const used = useServer();

  it("of commits to one head exactly one wins, whichever store they come through, and it is the one that is stored", () =>
    four(
      () => used.open("heads"),
      async (stores) => {
        for (let head = 0; head < 12; head += 1) {
          const results = await Promise.all(
            stores.flatMap((store, index) =>
              [0, 1, 2].map(async (number): Promise<{ readonly text: string; readonly result: CommitResult }> => {
                const text = `${index}-${number}`;
                const event = head === 0 ? sample.runStarted("default", text) : sample.repliedFinal(text);
                return { text, result: await commit(store, RUN, head, event) };
              }),
            ),
          );
          const won = results.filter(({ result }) => result.status === "committed");
          expect(won).toHaveLength(1);
          expect(results.filter(({ result }) => result.status === "conflict")).toHaveLength(11);
          const [stored] = await (stores[0] as Store).read(RUN, head);
          expect(JSON.stringify(stored?.event)).toContain(`"${won[0]?.text}"`);
        }
        expect(await verifyStoreAudit(stores[3] as Store)).toMatchObject({ ok: true });
      },
    ));

  it("a hundred reservations against one limit from four stores never overspend", () =>
    four(
      () => used.open("budget", { max: 3 }),
      async (stores) => {
        const [first] = stores as [Store];
        for (const budget of ["team", "ops", "desk"]) {
          // The line is there already: making it would keep the others waiting, too.
          const opener = { tenant: "default", runId: `opener-${budget}` };
          await commit(first, opener, 0, sample.runStarted(), sample.budgetReserved("r", 2, 100, budget));
          const results = await Promise.all(
            Array.from({ length: 100 }, (_, index) =>
              commit(
                stores[index % 4] as Store,
                { tenant: "default", runId: `run-${budget}-${index}` },
                0,
                sample.runStarted(),
                sample.budgetReserved("r", 7, 100, budget),
              ),
            ),
          );
          expect(results.filter(({ status }) => status === "committed")).toHaveLength(14);
          expect(results.filter(({ status }) => status === "refused")).toHaveLength(86);
          for (const store of stores) {
            expect(await store.budget("default", budget)).toMatchObject({ used: 0, reserved: 100 });
          }
        }
        expect(await rebuildPostgresProjections(first, { dryRun: true })).toEqual([]);
      },
    ));

  it("commits that need the same budgets in different orders all come through", () =>
    four(
      () => used.open("orders"),
      async (stores) => {
        const names = ["a", "b", "c", "d"];
        const results = await Promise.all(
          Array.from({ length: 60 }, (_, index) => {
            const order = names.map((_name, place) => names[(place + index) % names.length] ?? "");
            const reservations = (index % 2 === 0 ? order : order.toReversed()).map((budget) =>
              sample.budgetReserved(`r-${budget}`, 1, 1000, budget),
            );
            const run = { tenant: "default", runId: `run-${index}` };
            return commit(stores[index % 4] as Store, run, 0, sample.runStarted(), ...reservations);
          }),
        );
        expect(results.filter(({ status }) => status !== "committed")).toEqual([]);
        for (const budget of names) {
          expect((await (stores[0] as Store).budget("default", budget)).reserved).toBe(60);
        }
      },
    ));

  it("a question's id is given out once, also by two runs at the same moment", () =>
    four(
      () => used.open("ids"),
      async (stores) => {
        for (let round = 0; round < 8; round += 1) {
          const results = await Promise.allSettled(
            stores.map((store, index) =>
              commit(
                store,
                { tenant: "default", runId: `run-${round}-${index}` },
                0,
                sample.runStarted(),
                sample.repliedCalls(sample.sampleCall("c-1")),
                sample.approvalRequested("c-1", `apr-${round}`),
              ),
            ),
          );
          expect(results.filter(({ status }) => status === "fulfilled")).toHaveLength(1);
          const refused = results.filter((result) => result.status === "rejected");
          expect(refused.map(({ reason }) => (reason as { code: string }).code)).toEqual(
            Array(3).fill("BELAY_COMMIT_INVALID"),
          );
        }
        expect(await verifyStoreAudit(stores[0] as Store)).toMatchObject({ ok: true });
      },
    ));

  it("each store sees in the audit log what any has committed, in the order of its run", () =>
    four(
      () => used.open("log", { sequencer: false }),
      async (stores) => {
        await commit(stores[0] as Store, RUN, 0, sample.runStarted());
        expect(await (stores[1] as Store).audit.size()).toBe(1);
        await Promise.all(
          stores.map(async (store, index) => {
            const run = { tenant: "default", runId: `own-${index}` };
            await commit(store, run, 0, sample.runStarted());
            for (let head = 1; head < 15; head += 1) {
              await commit(store, run, head, sample.callSettled(`c-${head}`));
              if (head % 5 === 0) await (stores[(index + 1) % 4] as Store).audit.root();
            }
          }),
        );
        const records = await (stores[2] as Store).audit.entries(0, 1000);
        expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => index));
        expect(records).toHaveLength(61);
        expect(await verifyStoreAudit(stores[3] as Store)).toMatchObject({ ok: true, size: 61 });
      },
    ));
});
