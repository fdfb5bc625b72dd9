import { setTimeout as sleep } from "node:timers/promises";
import { expect, it } from "vitest";
import { rebuildPostgresProjections } from "../../../src/adapters/postgres/index.ts";
import { type RunKey, type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import { repliedFinal, runStarted, SAMPLE_AT } from "../../../src/testing/index.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const EXPECTED = ["BELAY_STORE_UNAVAILABLE", "BELAY_STORE_COMMIT_UNKNOWN"];

interface Told {
  /** Head that was acknowledged last, for each run. */
  readonly acknowledged: Map<string, number>;
  readonly codes: string[];
}

/** A writer that goes on after an error by reading the run, as a worker does. */
async function write(store: Store, writer: number, told: Told, isOver: () => boolean): Promise<void> {
  for (let number = 0; !isOver(); number += 1) {
    const run: RunKey = { tenant: "default", runId: `run-${writer}-${number}` };
    for (let head = 0; head < 4 && !isOver(); ) {
      const event = head === 0 ? runStarted() : repliedFinal(`${run.runId}/${head}`);
      try {
        const result = await store.commit({ run, head, entries: [{ at: SAMPLE_AT, event }] });
        // One writer for each run: nobody else can have been faster.
        expect(result.status).toBe("committed");
        head += 1;
        told.acknowledged.set(run.runId, head);
      } catch (error) {
        told.codes.push(String((error as { code?: string }).code ?? error));
        head = await headAfter(store, run, isOver);
      }
    }
  }
}

async function headAfter(store: Store, run: RunKey, isOver: () => boolean): Promise<number> {
  while (!isOver()) {
    try {
      return (await store.read(run)).length;
    } catch {
      await sleep(50);
    }
  }
  return 4;
}

describeWithPostgres("the server ends under load", () => {
  const used = useServer();

  it.each(["stop", "kill"] as const)(
    "%s and start again: nothing acknowledged is lost, and all verifies",
    async (how) => {
      await using one = await used.open(`after_${how}`);
      await using two = await used.open(`after_${how}`);
      const told: Told = { acknowledged: new Map(), codes: [] };
      let isOver = false;
      const writers = Promise.all(
        Array.from({ length: 12 }, (_, writer) => write(writer % 2 === 0 ? one : two, writer, told, () => isOver)),
      );
      for (let round = 0; round < 3; round += 1) {
        const before = told.acknowledged.size;
        while (told.acknowledged.size < before + 20) await sleep(10);
        await used.server[how]();
        if (round > 0) await sleep(300);
        await used.server.restart();
      }
      isOver = true;
      await writers;
      expect(told.codes.filter((code) => !EXPECTED.includes(code))).toEqual([]);
      for (const [runId, head] of told.acknowledged) {
        const stored = await one.read({ tenant: "default", runId });
        expect(stored.length).toBeGreaterThanOrEqual(head);
        const written = stored.slice(1).map(({ event }) => event);
        expect(written).toEqual(written.map((_, index) => repliedFinal(`${runId}/${index + 1}`)));
      }
      expect(await verifyStoreAudit(two)).toMatchObject({ ok: true });
      expect(await rebuildPostgresProjections(one, { dryRun: true })).toEqual([]);
    },
  );

  it("while it is down every use is refused with a typed error that shows no password", async () => {
    const url = new URL(used.server.url);
    url.password = "s3cret";
    await using store = await used.open("down");
    await used.server.stop();
    const { createPostgresStore } = await import("../../../src/adapters/postgres/index.ts");
    const uses = [
      () => store.read({ tenant: "default", runId: "x" }),
      () => store.audit.size(),
      () => store.acquireLease({ tenant: "default", runId: "x" }, "me", 1000, 0),
      () => createPostgresStore({ connectionString: url.href }),
    ];
    for (const use of uses) {
      const error = await use().then(
        () => undefined,
        (reason: unknown) => reason as Error & { code: string },
      );
      expect(error?.code).toBe("BELAY_STORE_UNAVAILABLE");
      expect(error?.message).not.toContain("s3cret");
      expect(error?.message).toContain("127.0.0.1");
    }
    await used.server.restart();
  });
});
