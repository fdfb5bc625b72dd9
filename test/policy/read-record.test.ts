import { describe, expect, it } from "vitest";
import { createReadRecord } from "../../src/policy/read-record.ts";

describe("what rules read", () => {
  it("is nothing when they read nothing", () => {
    expect(createReadRecord().take()).toBeUndefined();
  });

  it("is kept under its name as it was then, and once however many rules look", () => {
    const record = createReadRecord();
    const order = { paid: 5 };
    record.add("order", order);
    order.paid = 9;
    record.add("order", { paid: 5 });
    record.add("age", 3);
    expect(record.take()).toEqual({ order: { paid: 5 }, age: 3 });
  });

  it("keeps everything that was found under one name, in order", () => {
    const record = createReadRecord();
    for (const stock of [5, 4, 3, 5]) {
      record.add("stock", stock);
    }
    expect(record.take()).toEqual({ stock: 5, "stock#2": 4, "stock#3": 3 });
  });

  it("tells what is no JSON, and mends text that is broken", () => {
    const record = createReadRecord();
    record.add("when", new Date(0));
    record.add("note", "half \ud800 a pair");
    const { when, note } = record.take() as { readonly when: { readonly omitted: string }; readonly note: string };
    expect(when.omitted).toMatch(/^not JSON: /);
    expect(note).toBe("half \ufffd a pair");
  });

  it("has 2,000 characters in all, and is left out with one more", () => {
    const [fits, over] = [createReadRecord(), createReadRecord()];
    // {"a":"…"} takes eight characters beside the text.
    fits.add("a", "x".repeat(1992));
    over.add("a", "x".repeat(1993));
    expect(fits.take()).toEqual({ a: "x".repeat(1992) });
    expect(over.take()).toEqual({ omitted: "1 read(s): 2001 characters, 2000 are kept" });
  });

  it("takes no text of any length: what is far too long is not even looked at", () => {
    const record = createReadRecord();
    record.add("a", "x".repeat(100_001));
    expect(record.take()).toEqual({ a: { omitted: expect.stringMatching(/^not JSON: /) } });
  });
});
