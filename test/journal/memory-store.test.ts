import { describe, it } from "vitest";
import { createMemoryStore } from "../../src/journal/index.ts";
import { storeConformance } from "../../src/testing/index.ts";

describe("the in-memory store keeps every promise of a store", () => {
  const open = async () => {
    const store = createMemoryStore();
    return { store, close: () => store.close() };
  };
  for (const { name, run } of storeConformance(open)) {
    it(name, run);
  }
});
