import { expect, it } from "vitest";
import { createPostgresStore } from "../../../src/adapters/postgres/index.ts";
import { type RunKey, type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import { repliedFinal, runStarted, SAMPLE_AT } from "../../../src/testing/index.ts";
import { faultyPool } from "./faulty-pool.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const RUN: RunKey = { tenant: "default", runId: "run-1" };
const entry = (text: string) => [{ at: SAMPLE_AT, event: repliedFinal(text) }];

describeWithPostgres("a connection that is lost while COMMIT is under way", () => {
  const used = useServer();

  async function withFaults(
    schema: string,
    work: (store: Store, faulty: ReturnType<typeof faultyPool>) => Promise<void>,
  ) {
    const faulty = faultyPool(used.server.url);
    {
      await using store = await createPostgresStore({ pool: faulty.pool, schema, sequencer: false });
      await store.commit({ run: RUN, head: 0, entries: [{ at: SAMPLE_AT, event: runStarted() }] });
      await work(store, faulty);
      expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    }
    await faulty.pool.end();
  }

  it.each(["before", "after"] as const)("%s the server has done it: committed once, and told so", (fault) =>
    withFaults(`fault_${fault}`, async (store, faulty) => {
      faulty.fault = fault;
      expect(await store.commit({ run: RUN, head: 1, entries: entry("mine") })).toEqual({
        status: "committed",
        head: 2,
      });
      expect((await store.read(RUN, 1)).map(({ event }) => event)).toEqual([repliedFinal("mine")]);
      faulty.fault = fault;
      const fresh = { tenant: "default", runId: "run-2" };
      const started = { run: fresh, head: 0, entries: [{ at: SAMPLE_AT, event: runStarted() }] };
      expect(await store.commit(started)).toEqual({ status: "committed", head: 1 });
      expect(await store.read(fresh)).toHaveLength(1);
    }),
  );

  it("is a conflict when somebody else has written there meanwhile", () =>
    withFaults("fault_other", async (store, faulty) => {
      await using other = await used.open("fault_other");
      faulty.fault = "before";
      faulty.onFault = async () => {
        await other.commit({ run: RUN, head: 1, entries: entry("theirs") });
      };
      expect(await store.commit({ run: RUN, head: 1, entries: entry("mine") })).toEqual({
        status: "conflict",
        head: 2,
      });
      expect((await store.read(RUN, 1)).map(({ event }) => event)).toEqual([repliedFinal("theirs")]);
    }));

  it("is told as committed also when others have gone on from there", () =>
    withFaults("fault_further", async (store, faulty) => {
      await using other = await used.open("fault_further");
      faulty.fault = "after";
      faulty.onFault = async () => {
        await other.commit({ run: RUN, head: 2, entries: entry("theirs") });
      };
      expect(await store.commit({ run: RUN, head: 1, entries: entry("mine") })).toEqual({
        status: "committed",
        head: 2,
      });
      expect(await store.read(RUN)).toHaveLength(3);
    }));

  it("is an error of its own when the server does not come back, and nothing is claimed", () =>
    withFaults("fault_unknown", async (store, faulty) => {
      faulty.fault = "after";
      faulty.onFault = () => used.server.stop();
      await expect(store.commit({ run: RUN, head: 1, entries: entry("mine") })).rejects.toMatchObject({
        code: "BELAY_STORE_COMMIT_UNKNOWN",
      });
      await used.server.restart();
      expect(await store.read(RUN)).toHaveLength(2);
    }));
});
