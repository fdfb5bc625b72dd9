import * as fc from "fast-check";
import { expect, it } from "vitest";
import { openSqliteStore, rebuildProjections } from "../../../src/adapters/sqlite/index.ts";
import { createMemoryStore, verifyStoreAudit } from "../../../src/journal/index.ts";
import { contentsOf, playHistory, randomHistory } from "../../journal/random-history.ts";

it("after any history the SQLite store and the in-memory store were told and hold the same, and both verify", async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory, async (history) => {
      await using sqlite = await openSqliteStore(":memory:");
      await using memory = createMemoryStore();
      expect(await playHistory(sqlite, history)).toEqual(await playHistory(memory, history));
      expect(await contentsOf(sqlite)).toEqual(await contentsOf(memory));
      expect(await verifyStoreAudit(sqlite)).toEqual(await verifyStoreAudit(memory));
      expect(await verifyStoreAudit(sqlite)).toMatchObject({ ok: true });
    }),
    { numRuns: 150 },
  );
}, 60_000);

it("after any history the projections are what a rebuild from the journal gives", async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory, async (history) => {
      await using store = await openSqliteStore(":memory:");
      await playHistory(store, history);
      expect(await rebuildProjections(store)).toEqual([]);
    }),
    { numRuns: 150 },
  );
}, 60_000);
