import * as fc from "fast-check";
import { expect, it } from "vitest";
import { rebuildPostgresProjections } from "../../../src/adapters/postgres/index.ts";
import { createMemoryStore, type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import { contentsOf, playHistory, type RandomCommit, randomHistory } from "../../journal/random-history.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

// A history is many commits, and each waits for a disk.
const TIMEOUT_MS = 240_000;

/** One commit after another: what is told and stored then does not depend on who is faster. */
async function playInOrder(store: Store, history: readonly RandomCommit[]): Promise<readonly string[]> {
  const told: string[] = [];
  // Half of a history of two is played alone.
  for (const commit of history) {
    told.push(...(await playHistory(store, [commit])));
  }
  return told;
}

describeWithPostgres("random histories", () => {
  const used = useServer();
  let schemas = 0;
  const fresh = () => {
    schemas += 1;
    return used.open(`history_${schemas}`);
  };

  it(
    "told one by one, the PostgreSQL store and the in-memory store were told and hold the same, and both verify",
    async () => {
      await fc.assert(
        fc.asyncProperty(randomHistory, async (history) => {
          await using postgres = await fresh();
          await using memory = createMemoryStore();
          expect(await playInOrder(postgres, history)).toEqual(await playInOrder(memory, history));
          expect(await contentsOf(postgres)).toEqual(await contentsOf(memory));
          expect(await verifyStoreAudit(postgres)).toEqual(await verifyStoreAudit(memory));
        }),
        { numRuns: 8 },
      );
    },
    TIMEOUT_MS,
  );

  it(
    "told at once, all verifies, and the projections are what a rebuild from the journal gives",
    async () => {
      await fc.assert(
        fc.asyncProperty(randomHistory, async (history) => {
          await using store = await fresh();
          await playHistory(store, history);
          expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
          expect(await rebuildPostgresProjections(store)).toEqual([]);
        }),
        { numRuns: 8 },
      );
    },
    TIMEOUT_MS,
  );
});
