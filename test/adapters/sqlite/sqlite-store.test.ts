import { join } from "node:path";
import { describe, it } from "vitest";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { storeConformance } from "../../../src/testing/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

describe("the SQLite store keeps every promise of a store", () => {
  const open = async () => {
    const path = join(temporaryFolder(), "store.db");
    let store = await openSqliteStore(path);
    const reopen = async () => {
      await store.close();
      store = await openSqliteStore(path);
      return store;
    };
    return { store, reopen, close: () => store.close() };
  };
  for (const { name, run } of storeConformance(open)) {
    it(name, run);
  }
});

describe("the SQLite store keeps every promise in memory, and with a longer group commit", () => {
  const open = async () => {
    const store = await openSqliteStore(":memory:", { groupCommitMs: 2 });
    return { store, close: () => store.close() };
  };
  for (const { name, run } of storeConformance(open)) {
    it(name, run);
  }
});
