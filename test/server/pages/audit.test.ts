import { describe, expect, it } from "vitest";
import { leafHash, verifyInclusion } from "../../../src/audit/index.ts";
import type { Store } from "../../../src/journal/index.ts";
import { testConsole } from "./support.ts";

describe("audit", () => {
  it("verifies the whole log", async () => {
    const console = testConsole();
    await console.run("Please refund order O-1001");
    const size = await console.store.audit.size();
    const text = await (await console.post("/audit/verify", {})).text();
    expect(text).toContain(`The log is whole: ${size} records`);
    expect(text).toContain(await console.store.audit.root());
  });

  it("names the first bad record", async () => {
    const whole = testConsole();
    await whole.run("Please refund order O-1001");
    const console = testConsole({ store: changedAt(whole.store, 4) });
    const text = await (await console.post("/audit/verify", {})).text();
    expect(text).toContain("The log is not whole.");
    expect(text).toContain("First bad record: 4");
    expect(text).toContain('href="/audit/4"');
    expect(await (await console.get("/audit/4")).text()).toContain("The proof does not lead to the root.");
  });

  it("gives a record with a proof that a stranger can check", async () => {
    const console = testConsole();
    await console.run("Please refund order O-1001");
    await console.run("Where is order O-1002?");
    const size = await console.store.audit.size();
    for (const seq of [0, 3, size - 1]) {
      const response = await console.get(`/audit/${seq}/proof.json`);
      expect(response.headers.get("Content-Disposition")).toBe(`attachment; filename="audit-record-${seq}.json"`);
      const { text, root, proof, ...rest } = (await response.json()) as {
        readonly text: string;
        readonly root: string;
        readonly proof: readonly string[];
        readonly seq: number;
        readonly size: number;
      };
      expect(root).toBe(await console.store.audit.root());
      const claim = { leaf: leafHash(text), index: rest.seq, size: rest.size, root, proof };
      expect(verifyInclusion(claim)).toBe(true);
      expect(verifyInclusion({ ...claim, leaf: leafHash(`${text} `) })).toBe(false);
      expect(await (await console.get(`/audit/${seq}`)).text()).toContain(`record ${seq} of ${size}`);
    }
  });

  it("shows nothing of another tenant's records but their place", async () => {
    const console = testConsole();
    await console.harness.run("Where is order O-1002?", {
      tenant: "other",
      principal: { kind: "customer", id: "secret-customer" },
    }).result;
    const list = await (await console.get("/audit")).text();
    expect(list).toContain("other tenant");
    expect(list).not.toContain("secret-customer");
    expect((await console.get("/audit/0")).status).toBe(404);
    expect((await console.get("/audit/0/proof.json")).status).toBe(404);
    expect(await (await console.get("/runs")).text()).toContain("There are no runs here.");
  });
});

/** The store with one record changed behind its back. */
function changedAt(store: Store, seq: number): Store {
  const change = <Entry extends { readonly seq: number; readonly text: string }>(entry: Entry): Entry =>
    entry.seq === seq
      ? { ...entry, text: entry.text.replace('"tenant":"default"', '"tenant":"default","x":1') }
      : entry;
  const audit: Store["audit"] = Object.assign(Object.create(store.audit), {
    entries: async (from: number, limit: number) => (await store.audit.entries(from, limit)).map(change),
    async *traced(from?: number) {
      for await (const record of store.audit.traced(from)) yield change(record);
    },
  });
  return Object.assign(Object.create(store), { audit });
}
