import { describe, expect, it } from "vitest";
import {
  type AuditEntry,
  createAuditEntry,
  type Frontier,
  leafHash,
  signCheckpoint,
  verifyLog,
} from "../../src/audit/index.ts";
import { frontierOf, logOf, origin, rewrite, signed, signer, stranger, trusted, verifierKeys } from "./sample-log.ts";

describe("the stored state", () => {
  it("narrows a rewriting down to one of its subtrees", async () => {
    const log = logOf(7);
    expect(await verifyLog(rewrite(log, 5), { frontier: frontierOf(log) })).toMatchObject({ seq: 4, lastSeq: 5 });
    expect(await verifyLog(rewrite(log, 6), { frontier: frontierOf(log) })).toMatchObject({ seq: 6, lastSeq: 6 });
  });

  it.each([
    ["text", "garbage"],
    ["a root too few", { size: 3, roots: [leafHash("x")] }],
    ["no shape", null as unknown as Frontier],
  ])("that is unreadable is not the fault of a record: %s", async (_name, frontier) => {
    expect(await verifyLog(logOf(3), { frontier })).toMatchObject({ problem: "unreadable", seq: null });
  });

  it("is refused with a size that is no number", async () => {
    expect(await verifyLog(logOf(3), { expectedSize: Number.NaN })).toMatchObject({ problem: "unreadable", seq: null });
  });
});

describe("checkpoints that cannot be used", () => {
  const log = logOf(5);

  it("a signature by a stranger, by nobody known, or without a key to check it", async () => {
    const forged = signed(log, 5, stranger);
    for (const options of [
      { checkpoint: forged, verifierKeys },
      { trustedCheckpoints: [forged], verifierKeys },
      { checkpoint: signed(log, 5) },
      { checkpoint: signed(log, 5).replace("\n5\n", "\n4\n"), verifierKeys },
    ]) {
      expect(await verifyLog(log, options)).toMatchObject({ ok: false, problem: "bad_signature", seq: null });
    }
  });

  it("one of another log, named or not", async () => {
    const other = signCheckpoint({ origin: "example.com/other", ...trusted(log, 3) }, signer);
    expect(await verifyLog(log, { checkpoint: other, verifierKeys, origin })).toMatchObject({
      problem: "bad_signature",
    });
    const mixed = { checkpoint: signed(log, 5), trustedCheckpoints: [other], verifierKeys };
    expect(await verifyLog(log, mixed)).toMatchObject({ problem: "bad_signature" });
  });

  it("one that is garbage", async () => {
    expect(await verifyLog(log, { checkpoint: "garbage", verifierKeys })).toMatchObject({
      problem: "unreadable",
      seq: null,
    });
    for (const kept of [
      { size: -1, root: leafHash("x") },
      { size: 1, root: "x" },
      { size: 0, root: leafHash("x") },
    ]) {
      expect(await verifyLog(log, { trustedCheckpoints: [kept] })).toMatchObject({ problem: "unreadable", seq: null });
    }
  });

  it("do not hide a bad record", async () => {
    const broken = log.with(2, { ...(log[2] as AuditEntry), text: "{}" });
    expect(await verifyLog(broken, { checkpoint: "garbage", verifierKeys })).toMatchObject({
      problem: "changed",
      seq: 2,
    });
  });

  it("two of one size that contradict each other: nothing after the last agreement is proved", async () => {
    const kept = [trusted(log, 2), trusted(log, 5), { size: 5, root: leafHash("split view") }];
    expect(await verifyLog(log, { trustedCheckpoints: kept })).toMatchObject({
      problem: "root_mismatch",
      seq: 2,
      lastSeq: 4,
    });
  });

  it("throws for a verifier key that is not one, since that is configuration", async () => {
    await expect(verifyLog(log, { checkpoint: signed(log, 5), verifierKeys: ["x"] })).rejects.toMatchObject({
      code: "BELAY_AUDIT_INVALID",
    });
  });
});

describe("the source", () => {
  it("that fails is a verdict which does not repeat the error's text", async () => {
    const source = async function* () {
      yield* logOf(2);
      throw new SyntaxError("password=hunter2");
    };
    const verdict = await verifyLog(source());
    expect(verdict).toMatchObject({ problem: "unreadable", seq: 2, detail: expect.stringContaining("SyntaxError") });
    expect(JSON.stringify(verdict)).not.toContain("hunter2");
  });

  it("that is no list is a verdict", async () => {
    expect(await verifyLog(undefined as unknown as AuditEntry[])).toMatchObject({ problem: "unreadable", seq: 0 });
  });

  it("is closed as soon as a bad record is found", async () => {
    const state = { read: 0, closed: false };
    const source = async function* () {
      try {
        for (const entry of logOf(5).toSpliced(1, 1)) {
          state.read += 1;
          yield entry;
        }
      } finally {
        state.closed = true;
      }
    };
    await verifyLog(source());
    expect(state).toEqual({ read: 2, closed: true });
  });

  it("is left when the signal aborts", async () => {
    const controller = new AbortController();
    const source = async function* () {
      yield* logOf(2);
      controller.abort(new Error("enough"));
      yield* logOf(4).slice(2);
    };
    await expect(verifyLog(source(), { signal: controller.signal })).rejects.toThrow("enough");
  });
});

describe("createAuditEntry", () => {
  it("refuses what is no record or has no place", () => {
    expect(() => createAuditEntry(0, [1])).toThrow(expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }));
    expect(() => createAuditEntry(-1, {})).toThrow(expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }));
    expect(() => createAuditEntry(0, { at: new Date(0) })).toThrow(/\$\.at .*Date/);
  });
});
