import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import {
  type AuditEntry,
  appendLeaf,
  CHAIN_GENESIS,
  canonicalJson,
  chainLines,
  createAuditEntry,
  EMPTY_FRONTIER,
  encodeFrontier,
  type Frontier,
  generateSigner,
  rootOf,
  signCheckpoint,
  verifyChain,
  verifyLog,
} from "../../src/audit/index.ts";
import { createHarness, type Store } from "../../src/index.ts";
import { verifyStoreAudit } from "../../src/journal/index.ts";
import { spansOf } from "../../src/telemetry/index.ts";
import { calls, DANA, final, world } from "../engine/support.ts";
import { answer, closedAfterwards, idOf, STORES, temporaryFolder, worldOn } from "./support.ts";

function logOf(records: readonly object[]): { readonly entries: readonly AuditEntry[]; readonly frontier: Frontier } {
  let frontier = EMPTY_FRONTIER;
  const entries = records.map((record) => {
    const entry = createAuditEntry(frontier.size, record);
    frontier = appendLeaf(frontier, entry.leaf);
    return entry;
  });
  return { entries, frontier };
}

const RECORDS = Array.from({ length: 5 }, (_, n) => ({ n, what: `refund ${n}` }));

/** A store whose audit log holds a run with an effect, a rejection and a denial. */
async function busyStore(store: Store): Promise<Store> {
  const setup = worldOn(store, [
    calls(["refund", { order: "A", cents: 1 }], ["refund", { order: "B", cents: 5000 }]),
    final("ok"),
  ]);
  await answer(setup.harness, await setup.harness.run("go").result, "rejected");
  return store;
}

describe("hashes", () => {
  it.each(STORES)(
    "hash-fields-empty: each record has its hash, and together they make the root, on the %s store",
    async (_name, open) => {
      const store = await busyStore(await open());
      const entries = await store.audit.entries(0, 1000);
      expect(entries.length).toBeGreaterThan(5);
      expect(entries.every(({ leaf }) => /^[0-9a-f]{64}$/.test(leaf))).toBe(true);
      expect(new Set(entries.map(({ leaf }) => leaf)).size).toBe(entries.length);
      const frontier = entries.reduce((tree, { leaf }) => appendLeaf(tree, leaf), EMPTY_FRONTIER);
      expect(await store.audit.root()).toBe(rootOf(frontier));
      expect(await store.audit.frontier()).toBe(encodeFrontier(frontier));
      expect(await verifyStoreAudit(store)).toMatchObject({ ok: true, size: entries.length });
    },
  );

  it("hash-fields-empty: any edit of any record is found, and named", async () => {
    const { entries, frontier } = logOf(RECORDS);
    expect((await verifyLog(entries, { frontier })).ok).toBe(true);
    for (const [at, entry] of entries.entries()) {
      const edited = entries.with(at, { ...entry, text: entry.text.replace("refund", "gift") });
      expect(await verifyLog(edited, { frontier })).toMatchObject({ ok: false, problem: "changed", seq: at });
      const rehashed = entries.with(at, createAuditEntry(at, { n: at, what: "gift" }));
      expect(await verifyLog(rehashed, { frontier })).toMatchObject({ ok: false, problem: "root_mismatch" });
      expect(await verifyLog(entries.toSpliced(at, 1), { frontier })).toMatchObject({ ok: false });
    }
  });

  it("hash-fields-empty: the exported chain links each line to the one before", () => {
    const lines = [...chainLines(RECORDS)];
    const parsed = lines.map((line) => JSON.parse(line) as { hash: string; prev: string });
    expect(parsed.map(({ prev }) => prev)).toEqual([CHAIN_GENESIS, ...parsed.slice(0, -1).map(({ hash }) => hash)]);
    expect(verifyChain(lines)).toEqual({ ok: true, size: 5 });
    expect(verifyChain(lines.with(2, (lines[2] ?? "").replace("refund 2", "refund 9")))).toMatchObject({
      ok: false,
      line: 2,
    });
  });
});

describe("a log that somebody shortens or writes again", () => {
  it("tail-truncation: without its last two records it fails against the anchored count, and the first missing one is named", async () => {
    const { entries, frontier } = logOf(RECORDS);
    const { signer } = generateSigner("example.test/audit");
    const checkpoint = signCheckpoint({ origin: signer.name, size: 5, root: rootOf(frontier) }, signer);
    const evidences = [
      { expectedSize: 5 },
      { frontier },
      { trustedCheckpoints: [{ size: 5, root: rootOf(frontier) }] },
      { trustedCheckpoints: [checkpoint], verifierKeys: [signer.verifierKey] },
    ];
    for (const evidence of evidences) {
      expect(await verifyLog(entries.slice(0, 3), evidence)).toMatchObject({ ok: false, problem: "truncated", seq: 3 });
      expect(await verifyLog([], evidence)).toMatchObject({ ok: false, problem: "truncated", seq: 0 });
    }
  });

  it("tail-truncation: without its head it fails at the first record", async () => {
    const { entries, frontier } = logOf(RECORDS);
    expect(await verifyLog(entries.slice(2), { frontier })).toMatchObject({ ok: false, problem: "missing", seq: 0 });
  });

  it("tail-truncation: rows deleted from the file of a store are found, also with the state set back", async () => {
    for (const alsoState of [false, true]) {
      const path = join(temporaryFolder(), "store.db");
      const store = await busyStore(await openSqliteStore(path));
      const size = await store.audit.size();
      const root = await store.audit.root();
      const before = (await store.audit.entries(0, size - 2)).reduce(
        (tree, { leaf }) => appendLeaf(tree, leaf),
        EMPTY_FRONTIER,
      );
      await store.close();
      const database = new DatabaseSync(path);
      database.prepare("DELETE FROM audit WHERE seq >= ?").run(size - 2);
      if (alsoState) {
        database.prepare("UPDATE audit_state SET size = ?, frontier = ?").run(size - 2, encodeFrontier(before));
      }
      database.close();
      const shortened = closedAfterwards(await openSqliteStore(path));
      const verdict = await verifyStoreAudit(shortened);
      expect(verdict).toMatchObject({ ok: false, problem: alsoState ? "record_missing" : "truncated" });
      const anchored = await verifyStoreAudit(shortened, { trustedCheckpoints: [{ size, root }] });
      expect(anchored).toMatchObject({ ok: false, problem: "truncated", seq: size - 2 });
    }
  });

  it("audit-02: a log that is computed again with one changed record is found by a root that was kept elsewhere", async () => {
    const honest = logOf(RECORDS);
    const forged = logOf(RECORDS.with(1, { n: 1, what: "refund 0" }));
    const { signer } = generateSigner("example.test/audit");
    const note = signCheckpoint({ origin: signer.name, size: 5, root: rootOf(honest.frontier) }, signer);
    // Whole in itself: only what was kept elsewhere tells.
    expect((await verifyLog(forged.entries, { frontier: forged.frontier })).ok).toBe(true);
    for (const evidence of [
      { trustedCheckpoints: [{ size: 5, root: rootOf(honest.frontier) }] },
      { trustedCheckpoints: [note], verifierKeys: [signer.verifierKey] },
    ]) {
      expect(await verifyLog(forged.entries, { ...evidence, frontier: forged.frontier })).toMatchObject({ ok: false });
    }
    // A checkpoint that the forger signs with a key of their own counts for nothing.
    const other = generateSigner("example.test/audit").signer;
    const forgedNote = signCheckpoint({ origin: signer.name, size: 5, root: rootOf(forged.frontier) }, other);
    const verdict = await verifyLog(forged.entries, { checkpoint: forgedNote, verifierKeys: [signer.verifierKey] });
    expect(verdict).toMatchObject({ ok: false, problem: "bad_signature" });
  });

  it("audit-02: the exported chain shows it by its anchored hash", () => {
    const lines = [...chainLines(RECORDS)];
    const anchor = (JSON.parse(lines.at(-1) ?? "{}") as { hash: string }).hash;
    const forged = [...chainLines(RECORDS.with(1, { n: 1, what: "refund 0" }))];
    expect(verifyChain(forged)).toEqual({ ok: true, size: 5 });
    expect(verifyChain(forged, { anchor })).toMatchObject({ ok: false, problem: "anchor_missing" });
    expect(verifyChain([...lines, ...[...chainLines([{ n: 5 }], anchor)]], { anchor })).toEqual({ ok: true, size: 6 });
  });

  it("audit-02: so does the journal of a store whose rows were rewritten together with their records", async () => {
    const path = join(temporaryFolder(), "store.db");
    const store = await busyStore(await openSqliteStore(path));
    const size = await store.audit.size();
    const root = await store.audit.root();
    const entries = await store.audit.entries(0, size);
    await store.close();
    const target = entries.findIndex(({ text }) => text.includes('"type":"call.settled"'));
    const forged = entries.with(
      target,
      createAuditEntry(target, { ...JSON.parse(entries[target]?.text ?? "{}"), code: "NOTHING_HAPPENED" }),
    );
    const frontier = forged.reduce((tree, { leaf }) => appendLeaf(tree, leaf), EMPTY_FRONTIER);
    const database = new DatabaseSync(path);
    const { text = "", leaf = "" } = forged[target] ?? {};
    database.prepare("UPDATE audit SET text = ?, leaf = ? WHERE seq = ?").run(text, leaf, target);
    database.prepare("UPDATE audit_state SET frontier = ?").run(encodeFrontier(frontier));
    database.close();
    const reopened = closedAfterwards(await openSqliteStore(path));
    expect(await verifyStoreAudit(reopened)).toMatchObject({ ok: false, problem: "journal_differs", seq: target });
    expect(await verifyStoreAudit(reopened, { trustedCheckpoints: [{ size, root }] })).toMatchObject({ ok: false });
  });
});

describe("what is recorded", () => {
  it("audit-05: equal values have equal bytes, whatever their spelling", () => {
    const equal: readonly (readonly [unknown, unknown])[] = [
      [
        { a: 1, b: 2 },
        { b: 2, a: 1 },
      ],
      [JSON.parse('{"n":1.0}'), { n: 1 }],
      [JSON.parse('{"n":1e0}'), { n: 1 }],
      [{ n: -0 }, { n: 0 }],
      [JSON.parse('{"n":1E21}'), { n: 1e21 }],
      [
        { "\u00e9": 1, e: 2 },
        { e: 2, "\u00e9": 1 },
      ],
    ];
    for (const [one, other] of equal) {
      expect(canonicalJson(one)).toBe(canonicalJson(other));
      expect(createAuditEntry(0, one as object).leaf).toBe(createAuditEntry(0, other as object).leaf);
    }
    // RFC 8785: keys are sorted by UTF-16 units, numbers are written as ECMAScript writes them.
    expect(canonicalJson({ "\ud83d\ude00": 1, "\ufb33": 2, a: 1e21, b: 1e-7 })).toBe(
      '{"a":1e+21,"b":1e-7,"\ud83d\ude00":1,"\ufb33":2}',
    );
  });

  it("audit-05: what has no one form is refused, and composed and decomposed letters stay apart", () => {
    for (const bad of [
      { a: "\ud800" },
      { "\udc00": 1 },
      { a: Number.NaN },
      { a: Number.POSITIVE_INFINITY },
      { a: 1n },
    ]) {
      expect(() => canonicalJson(bad)).toThrow(expect.objectContaining({ code: "BELAY_CANONICAL_JSON" }));
    }
    expect(canonicalJson({ a: "\u00e9" })).not.toBe(canonicalJson({ a: "e\u0301" }));
  });

  it("audit-08: a policy that throws is a denial with the rule's id in the log, and nothing goes on as if allowed", async () => {
    const setup = world(
      [calls(["refund", { order: "A", cents: 1 }], ["refund", { order: "B", cents: 1 }]), final("no")],
      {
        agent: {
          rules: [
            {
              id: "fraud_check",
              decide: (call) => {
                if ((call.args as { order: string }).order === "A") throw new Error("password=hunter2");
                return { verdict: "allow", code: "OK", reason: "" };
              },
            },
          ],
        },
      },
    );
    await setup.harness.run("go").result;
    expect(setup.effects).toEqual(["B:1"]);
    const records = (await setup.options.store.audit.entries(0, 1000)).map(({ text }) => JSON.parse(text));
    expect(records).toContainEqual(
      expect.objectContaining({
        type: "call.decided",
        callId: "c1.1",
        verdict: "deny",
        code: "POLICY_ERROR",
        ruleId: "fraud_check",
      }),
    );
    expect(records.filter(({ type, callId }) => type === "call.started" && callId === "c1.1")).toEqual([]);
    expect(JSON.stringify(records)).not.toContain("hunter2");
  });

  it.each(STORES)(
    "resume-trace-linked: the part after a resume is in the same trace, with the wait and one tool span, on the %s store",
    async (_name, open) => {
      const setup = worldOn(await open(), [calls(["refund", { order: "A", cents: 5000 }]), final("ok")]);
      const waiting = await setup.harness.run("go", { runId: "r" }).result;
      const run = { tenant: "default", runId: "r" };
      const early = spansOf(await setup.harness.entries(run), { run, withOpen: true });
      setup.clock.advance(3_600_000);
      const other = createHarness({ ...setup.options, worker: "other" });
      await other.decide({ approvalId: idOf(waiting), answer: "approved", by: DANA });
      await other.advance(run);
      const spans = spansOf(await other.entries(run), { run });
      expect(new Set([...early, ...spans].map(({ traceId }) => traceId)).size).toBe(1);
      const ids = spans.map(({ spanId }) => spanId);
      expect(new Set(ids).size).toBe(ids.length);
      expect(spans.filter(({ name }) => name === "execute_tool refund")).toHaveLength(1);
      const wait = spans.find(({ name }) => name === "belay.approval");
      expect((wait?.endMs ?? 0) - (wait?.startMs ?? 0)).toBe(3_600_000);
      // What was exported before the pause keeps its ids.
      const openBefore = early.map(({ spanId }) => spanId);
      expect(openBefore.every((id) => ids.includes(id))).toBe(true);
      expect(spans.every(({ parentSpanId }) => parentSpanId === undefined || ids.includes(parentSpanId))).toBe(true);
    },
  );
});
