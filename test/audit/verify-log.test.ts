import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type AuditEntry,
  type AuditVerdict,
  createAuditEntry,
  EMPTY_FRONTIER,
  EMPTY_ROOT,
  encodeFrontier,
  type Frontier,
  leafHash,
  rootOf,
  verifyLog,
} from "../../src/audit/index.ts";
import { frontierOf, logOf, origin, rewrite, signed, trusted, verifierKeys } from "./sample-log.ts";

/** Non-empty random logs, with one place in them. */
const logAndPlace = fc
  .tuple(fc.integer({ min: 1, max: 40 }), fc.nat(), fc.nat())
  .map(([count, seed, salt]) => ({ log: logOf(count, salt), at: seed % count }));

function checkLog(
  test: (given: { log: AuditEntry[]; at: number; state: Frontier }, seed: number) => Promise<void>,
): Promise<void> {
  return fc.assert(
    fc.asyncProperty(logAndPlace, fc.nat(), ({ log, at }, seed) => test({ log, at, state: frontierOf(log) }, seed)),
    { numRuns: 80 },
  );
}

describe("an intact log", () => {
  it("verifies against every kind of evidence, from any kind of source", async () => {
    await checkLog(async ({ log, at, state }) => {
      const source = async function* () {
        yield* log;
      };
      const expected = { ok: true, size: log.length, root: rootOf(state) };
      expect(await verifyLog(log)).toEqual({ ...expected, anchoredSize: 0 });
      expect(await verifyLog(source(), { frontier: state, expectedSize: log.length })).toEqual({
        ...expected,
        anchoredSize: 0,
      });
      expect(
        await verifyLog(source(), {
          checkpoint: signed(log, log.length),
          trustedCheckpoints: [trusted(log, at), signed(log, at)],
          verifierKeys,
          origin,
          frontier: encodeFrontier(state),
        }),
      ).toEqual({ ...expected, anchoredSize: log.length });
    });
  });

  it("may have grown since the checkpoint", async () => {
    const log = logOf(9);
    const verdict = await verifyLog(log, { checkpoint: signed(log, 5), verifierKeys });
    expect(verdict).toMatchObject({ ok: true, size: 9, anchoredSize: 5 });
  });

  it("may be empty", async () => {
    const verdict = await verifyLog([], { checkpoint: signed([], 0), verifierKeys, frontier: EMPTY_FRONTIER });
    expect(verdict).toEqual({ ok: true, size: 0, root: EMPTY_ROOT, anchoredSize: 0 });
  });
});

describe("every single mutation is found, and the first bad record named", () => {
  it("an edited byte of any text", async () => {
    await checkLog(async ({ log, at }, seed) => {
      const entry = log[at] as AuditEntry;
      const place = seed % entry.text.length;
      const letter = String.fromCharCode((entry.text.charCodeAt(place) ^ (1 + (seed % 31))) & 0x7f);
      const text = entry.text.slice(0, place) + letter + entry.text.slice(place + 1);
      expect(await verifyLog(log.with(at, { ...entry, text }))).toMatchObject({ problem: "changed", seq: at });
    });
  });

  it("a rewritten leaf hash", async () => {
    await checkLog(async ({ log, at }) => {
      const entry = log[at] as AuditEntry;
      const broken = log.with(at, { ...entry, leaf: leafHash("other") });
      expect(await verifyLog(broken)).toMatchObject({ problem: "changed", seq: at });
      const garbage = log.with(at, { ...entry, leaf: "garbage" });
      expect(await verifyLog(garbage)).toMatchObject({ problem: "unreadable", seq: at });
    });
  });

  it("a deleted record, at the end only by the size", async () => {
    await checkLog(async ({ log, at, state }) => {
      const problem = at === log.length - 1 ? "truncated" : "missing";
      const broken = log.toSpliced(at, 1);
      expect(await verifyLog(broken, { frontier: state })).toMatchObject({ problem, seq: at });
      expect(await verifyLog(broken, { expectedSize: log.length })).toMatchObject({ problem, seq: at });
      const checkpoint = signed(log, log.length);
      expect(await verifyLog(broken, { checkpoint, verifierKeys })).toMatchObject({ problem, seq: at });
    });
  });

  it("a deleted record after which the others were numbered again", async () => {
    await checkLog(async ({ log, at, state }) => {
      const broken = log.toSpliced(at, 1).map((entry, seq) => ({ ...entry, seq }));
      const verdict = await verifyLog(broken, { frontier: state });
      // With no subtree complete before the end, all that can be proved is that one is missing.
      if (verdict.ok || verdict.problem !== "root_mismatch") {
        expect(verdict).toMatchObject({ problem: "truncated", seq: log.length - 1 });
        return;
      }
      expect(verdict.seq).toBeLessThanOrEqual(at);
      expect(verdict.lastSeq).toBeGreaterThanOrEqual(at);
    });
  });

  it("is careful about what a shortened log proves", async () => {
    const verdict = await verifyLog(logOf(5).slice(0, 4), {
      trustedCheckpoints: [trusted(logOf(5), 2), trusted(logOf(5), 5)],
    });
    expect(verdict).toMatchObject({ problem: "truncated", seq: 4, detail: expect.stringContaining("records 2 on") });
  });

  it("a truncated tail", async () => {
    await checkLog(async ({ log, at, state }) => {
      const broken = log.slice(0, at);
      for (const evidence of [
        { frontier: state },
        { expectedSize: log.length },
        { trustedCheckpoints: [trusted(log, log.length)] },
        { checkpoint: signed(log, log.length), verifierKeys },
        // A rollback of the whole database, stored state and all.
        { frontier: frontierOf(broken), trustedCheckpoints: [trusted(log, at + 1)] },
      ]) {
        expect(await verifyLog(broken, evidence)).toMatchObject({ problem: "truncated", seq: at });
      }
    });
  });

  it("two swapped records", async () => {
    await checkLog(async ({ log, at }, seed) => {
      const other = seed % log.length;
      fc.pre(other !== at);
      const broken = log.with(at, log[other] as AuditEntry).with(other, log[at] as AuditEntry);
      expect(await verifyLog(broken)).toMatchObject({ problem: "missing", seq: Math.min(at, other) });
    });
  });

  it("two records that swapped all but their numbers", async () => {
    await checkLog(async ({ log, at, state }, seed) => {
      const other = seed % log.length;
      fc.pre(other !== at);
      const broken = log
        .with(at, { ...(log[other] as AuditEntry), seq: at })
        .with(other, { ...(log[at] as AuditEntry), seq: other });
      const verdict = await verifyLog(broken, { frontier: state });
      expect(verdict).toMatchObject({ problem: "root_mismatch" });
      expect(firstSuspect(verdict)).toBeLessThanOrEqual(Math.min(at, other));
      expect(lastSuspect(verdict)).toBeGreaterThanOrEqual(Math.min(at, other));
    });
  });

  it("a duplicated record", async () => {
    await checkLog(async ({ log, at }) => {
      const broken = log.toSpliced(at, 0, log[at] as AuditEntry);
      expect(await verifyLog(broken)).toMatchObject({ problem: "missing", seq: at + 1 });
    });
  });

  it("an inserted record", async () => {
    await checkLog(async ({ log, at, state }) => {
      const forged = createAuditEntry(at, { forged: true });
      expect(await verifyLog(log.toSpliced(at, 0, forged))).toMatchObject({ problem: "missing", seq: at + 1 });
      const renumbered = log.toSpliced(at, 0, forged).map((entry, seq) => ({ ...entry, seq }));
      const verdict = await verifyLog(renumbered, { frontier: state });
      expect(verdict).toMatchObject({ problem: "root_mismatch" });
      expect(lastSuspect(verdict)).toBeGreaterThanOrEqual(at);
    });
  });

  it("a record that was added behind the log's back", async () => {
    await checkLog(async ({ log, state }) => {
      const broken = [...log, createAuditEntry(log.length, { forged: true })];
      expect(await verifyLog(broken, { frontier: state })).toMatchObject({ problem: "extra", seq: log.length });
      expect(await verifyLog(broken, { expectedSize: log.length })).toMatchObject({
        problem: "extra",
        seq: log.length,
      });
    });
  });

  it("garbage after the end", async () => {
    for (const garbage of [undefined, null, "", "garbage", 7, {}, [], { seq: "3", text: "{}", leaf: leafHash("{}") }]) {
      const broken = [...logOf(3), garbage] as AuditEntry[];
      expect(await verifyLog(broken), JSON.stringify(garbage)).toMatchObject({ problem: "unreadable", seq: 3 });
    }
  });

  it("a record rewritten together with its leaf, within the smallest range that the evidence allows", async () => {
    await checkLog(async ({ log, at, state }, seed) => {
      const before = seed % (at + 1);
      const after = at + 1 + (seed % (log.length - at));
      const broken = rewrite(log, at);
      expect(
        await verifyLog(broken, { trustedCheckpoints: [trusted(log, after), trusted(log, before)] }),
      ).toMatchObject({ problem: "root_mismatch", seq: before, lastSeq: after - 1 });
      const pinned = [trusted(log, at), trusted(log, at + 1)];
      expect(await verifyLog(broken, { frontier: state, trustedCheckpoints: pinned })).toMatchObject({
        problem: "root_mismatch",
        lastSeq: at,
      });
      const checkpoint = signed(log, log.length);
      expect(await verifyLog(broken, { checkpoint, verifierKeys })).toMatchObject({
        problem: "root_mismatch",
        seq: 0,
        lastSeq: log.length - 1,
      });
    });
  });

  it("a rewriting that also rewrote the stored state, by a checkpoint kept elsewhere", async () => {
    await checkLog(async ({ log, at }) => {
      const broken = rewrite(log, at);
      const frontier = frontierOf(broken);
      expect((await verifyLog(broken, { frontier })).ok).toBe(true);
      const kept = signed(log, at + 1);
      expect(await verifyLog(broken, { frontier, trustedCheckpoints: [kept], verifierKeys })).toMatchObject({
        problem: "root_mismatch",
        lastSeq: at,
      });
    });
  });
});

describe("a text that hashes to its leaf and is not canonical", () => {
  it.each([
    ["another order of keys", '{"b":1,"a":2}'],
    ["a space", '{"a": 1}'],
    ["a repeated key", '{"a":1,"a":2}'],
    ["another spelling of a number", '{"a":1.0}'],
    ["a lone surrogate", '{"a":"\ud800"}'],
    ["an escaped letter", '{"a":"\\u0061"}'],
    ["text after the object", '{"a":1}\n'],
    ["a list", "[1]"],
    ["nothing", ""],
    ["half an object", '{"a":'],
  ])("is named: %s", async (_name, text) => {
    const broken = [...logOf(2), { seq: 2, text, leaf: leafHash(text) }, ...logOf(4).slice(3)];
    expect(await verifyLog(broken)).toMatchObject({ problem: "not_canonical", seq: 2 });
  });
});

function firstSuspect(verdict: AuditVerdict): number {
  return verdict.ok ? Number.NaN : (verdict.seq ?? Number.NaN);
}

function lastSuspect(verdict: AuditVerdict): number {
  return !verdict.ok && verdict.problem === "root_mismatch" ? verdict.lastSeq : firstSuspect(verdict);
}
