import { join } from "node:path";
import { describe, it } from "vitest";
import { createSqliteWaker, openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import type { Store } from "../../../src/journal/index.ts";
import { wakerConformance } from "../../../src/testing/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const OPTIONS = { pollMs: 5, redeliveryMs: 2000 };

describe("the SQLite waker keeps every promise of a waker", () => {
  const open = async () => {
    const path = join(temporaryFolder(), "store.db");
    const stores: Store[] = [];
    const another = async () => {
      const store = await openSqliteStore(path);
      stores.push(store);
      return createSqliteWaker(store, OPTIONS);
    };
    const close = async () => {
      await Promise.all(stores.map((store) => store.close()));
    };
    return { waker: await another(), another, close };
  };
  for (const { name, run } of wakerConformance(open)) {
    it(name, run, 30_000);
  }
});
