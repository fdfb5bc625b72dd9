import { describe, expect, it } from "vitest";
import { checkEntry } from "../../src/audit/entry.ts";
import { appendLeaf, EMPTY_FRONTIER, isFrontier, parseFrontier } from "../../src/audit/frontier.ts";
import {
  createAuditEntry,
  createSigner,
  decodeFrontier,
  encodeFrontier,
  generateSigner,
} from "../../src/audit/index.ts";
import { leafHash, nodeHash } from "../../src/audit/merkle-hash.ts";
import { openNote } from "../../src/audit/note.ts";

const { signer, privateKeyPem } = generateSigner("example.com/audit");
const { signer: other } = generateSigner("example.com/other");
const TEXT = "one line\n";
const note = `${TEXT}\n${signer.signatureLine(TEXT)}`;
const LEAF = leafHash("{}");

describe("what is wrong with one stored record", () => {
  const entry = createAuditEntry(3, { kind: "model_called" });

  it("is nothing for a record in its place", () => {
    expect(checkEntry(entry, 3)).toBeUndefined();
  });

  it.each<[string, unknown, number, unknown]>([
    ["no object", "text", 3, { problem: "unreadable", detail: "record 3 is not {seq, text, leaf}" }],
    ["nothing", null, 3, { problem: "unreadable", detail: "record 3 is not {seq, text, leaf}" }],
    ["a place that is none", { ...entry, seq: -1 }, 3, { problem: "unreadable" }],
    ["a text that is none", { ...entry, text: 5 }, 3, { problem: "unreadable" }],
    ["a leaf that is no hash", { ...entry, leaf: "ab" }, 3, { problem: "unreadable" }],
    ["a later record", entry, 2, { problem: "missing", detail: "record 2 is missing: record 3 follows instead" }],
    ["an earlier one", entry, 4, { problem: "missing", detail: "record 4 is missing: record 3 stands in its place" }],
    [
      "another text",
      { ...entry, text: `${entry.text} ` },
      3,
      { problem: "changed", detail: "the text of record 3 does not hash to its stored leaf" },
    ],
    [
      "a text that is no canonical JSON",
      { seq: 3, text: '{ "a":1}', leaf: leafHash('{ "a":1}') },
      3,
      { problem: "not_canonical", detail: "the text of record 3 is not the canonical JSON of an object" },
    ],
    ["a list", { seq: 3, text: "[]", leaf: leafHash("[]") }, 3, { problem: "not_canonical" }],
    ["half an object", { seq: 3, text: "{", leaf: leafHash("{") }, 3, { problem: "not_canonical" }],
  ])("is named for %s", (_, value, seq, failure) => {
    expect(checkEntry(value, seq)).toMatchObject({ ok: false, seq, ...(failure as object) });
  });

  it("is told with the place and the start of the text when a record is made", () => {
    expect(() => createAuditEntry(-1, { note: "x".repeat(100) })).toThrow(
      `An audit record must be an object with a place from 0, not {"note":"${"x".repeat(31)} at -1. ` +
        "Pass the size of the frontier as the place.",
    );
  });
});

describe("what is wrong with a note", () => {
  const refused = (text: unknown, keys = [signer.verifierKey]) => openNote(text as string, keys);

  it("is told as what it should have been", () => {
    expect(refused(5)).toMatchObject({ detail: "a note is a text of at most 1000000 characters" });
    expect(refused(note.replace("one", "o\tne"))).toMatchObject({
      detail: "a note holds no control character but newline, and no lone surrogate",
    });
    const shape = "a note is a text, an empty line and signature lines, each ended by a newline";
    expect(refused(TEXT + signer.signatureLine(TEXT))).toMatchObject({ problem: "unreadable", detail: shape });
    expect(refused(note.slice(0, -1))).toMatchObject({ problem: "unreadable", detail: shape });
    expect(refused(`${TEXT}\n`)).toMatchObject({ detail: "a note has 1 to 100 signature lines, not 0" });
    const line = "a signature line is not: em dash, space, name, space, base64";
    for (const bad of [
      note.replace("— ", "x— "),
      note.replace(/\n$/, " more\n"),
      `${TEXT}\n— example.com/audit AAAAAA==\n`,
    ]) {
      expect(refused(bad)).toMatchObject({ ok: false, problem: "unreadable", detail: line });
    }
  });

  it("has no say on whose key it is: the names of the known keys are told, each once", () => {
    const stranger = generateSigner("example.org/else").signer;
    const foreign = `${TEXT}\n${stranger.signatureLine(TEXT)}`;
    const twice = [signer.verifierKey, generateSigner(signer.name).signer.verifierKey, other.verifierKey];
    expect(openNote(foreign, twice)).toEqual({
      ok: false,
      problem: "bad_signature",
      detail: "none of the known keys signed it (example.com/audit, example.com/other)",
    });
    expect(openNote(foreign, [])).toMatchObject({ detail: "none of the known keys signed it (no key was given)" });
    expect(refused(note.replace("one", "two"))).toMatchObject({
      detail: "the signature of example.com/audit does not fit the text",
    });
  });

  it("begins at one character and one signature too many", () => {
    const padding = "x".repeat(1_000_000 - TEXT.length - 1 - signer.signatureLine(TEXT).length);
    const whole = `${padding}${TEXT}`;
    const longest = `${whole}\n${signer.signatureLine(whole)}`;
    expect(longest).toHaveLength(1_000_000);
    expect(refused(longest)).toMatchObject({ ok: true });
    const longer = `x${whole}`;
    expect(refused(`${longer}\n${signer.signatureLine(longer)}`)).toMatchObject({ problem: "unreadable" });
    const lines = (count: number) => `${TEXT}\n${signer.signatureLine(TEXT).repeat(count)}`;
    expect(refused(lines(100))).toEqual({ ok: true, text: TEXT, signedBy: [signer.name] });
    expect(refused(lines(101))).toMatchObject({ detail: "a note has 1 to 100 signature lines, not 101" });
  });
});

describe("what is wrong with a signer", () => {
  it("is told with the name, cut, and with what to use", () => {
    const name = `a ${"b".repeat(200)}`;
    expect(() => createSigner({ name, privateKeyPem })).toThrow(
      `"${name.slice(0, 120)}" cannot name a signing key. Use a name without spaces and plus signs, best one like ` +
        "example.com/audit.",
    );
    expect(() => createSigner({ name: "log", privateKeyPem: "nothing" })).toThrow(
      expect.objectContaining({
        code: "BELAY_AUDIT_INVALID",
        message:
          "The private key of a checkpoint signer is not an Ed25519 key in PEM form. Pass the privateKeyPem that " +
          "generateSigner() returned.",
      }),
    );
  });

  it("is told of a verifier key: any text before, after or instead", () => {
    for (const key of [`x\n${signer.verifierKey}`, `${signer.verifierKey}\n`, `+${signer.verifierKey}`, "log", ""]) {
      expect(() => openNote(note, [key])).toThrow(
        expect.objectContaining({
          code: "BELAY_AUDIT_INVALID",
          message: expect.stringMatching(
            /" is not an Ed25519 verifier key\. Pass the whole text name\+hash\+key that generateSigner\(\) returned as/,
          ),
        }),
      );
    }
    const long = "k".repeat(500);
    expect(() => openNote(note, [long])).toThrow(`"${"k".repeat(120)}" is not`);
  });
});

describe("what is wrong with a stored state of the tree", () => {
  const three = [LEAF, LEAF, LEAF].reduce(appendLeaf, EMPTY_FRONTIER);
  const text = encodeFrontier(three);

  it.each<[string, unknown]>([
    ["no text", 5],
    ["a letter that is no digit", text.replace(/.$/, "g")],
    ["a letter before", `g${text}`],
    ["capitals", text.replace(/[a-f]/, (letter) => letter.toUpperCase())],
    ["a size that is cut", text.slice(0, 15)],
    ["nothing", ""],
    ["a root that is cut", text.slice(0, -1)],
    ["a root too few", text.slice(0, -64)],
    ["a root too many", text + LEAF],
    ["a size that no number holds exactly", "f".repeat(16)],
  ])("is found: %s", (_, encoded) => {
    expect(parseFrontier(encoded)).toBeUndefined();
    expect(() => decodeFrontier(encoded as string)).toThrow(
      `The stored state of the audit tree is unreadable (${String(encoded).slice(0, 16)}…). Rebuild it by appending ` +
        "the stored leaf hashes in order, and verify the log before trusting it.",
    );
  });

  it("is found in values of any other shape", () => {
    expect(parseFrontier(text)).toEqual(three);
    for (const odd of [null, 5, {}, { size: 3 }, { size: -1, roots: [] }, { size: 1, roots: "a".repeat(64) }]) {
      expect(isFrontier(odd)).toBe(false);
    }
    expect(isFrontier({ size: 1, roots: { length: 1, every: () => true } })).toBe(false);
  });
});

describe("what is wrong with a hash", () => {
  it("is told, cut, for either side", () => {
    const message = (bad: string) => `not ${bad.slice(0, 80)}. Pass what leafHash(), nodeHash() or rootOf() returned.`;
    for (const bad of ["ab", `${LEAF}00`, "", "g".repeat(64), "x".repeat(200)]) {
      expect(() => nodeHash(bad, LEAF)).toThrow(message(bad));
      expect(() => nodeHash(LEAF, bad)).toThrow(message(bad));
    }
  });
});
