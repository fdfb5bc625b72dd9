import { createHash, generateKeyPairSync } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  type Checkpoint,
  createSigner,
  EMPTY_ROOT,
  generateSigner,
  leafHash,
  openCheckpoint,
  signCheckpoint,
} from "../../src/audit/index.ts";
import { openNote } from "../../src/audit/note.ts";

// From the package documentation of golang.org/x/mod/sumdb/note.
const NEUMANN_KEY = "PeterNeumann+c74f20a3+ARpc2QcUPDhMQegwxbzhKqiBfsVkmqq/LDE4izWy10TW";
const NEUMANN_SEED = "AYEKFALVFGyNhPJEMzD1QIDr+Y7hfZx09iUvxdXHKDFz";
const NEUMANN_TEXT =
  "If you think cryptography is the answer to your problem,\nthen you don't know what your problem is.\n";
const NEUMANN_LINE =
  "— PeterNeumann x08go/ZJkuBS9UG/SffcvIAQxVBtiFupLLr8pAcElZInNIuGUgYN1FFYC2pZSNXgKvqfqdngotpRZb6KE6RyyBwJnAM=\n";
const NEUMANN_NOTE = `${NEUMANN_TEXT}\n${NEUMANN_LINE}`;

// A tree head that the Go checksum database published, with its well-known key.
const GO_KEY = "sum.golang.org+033de0ae+Ac4zctda0e5eza+HJyk9SxEdh+s3Ux18htTTAD8OuAn8";
const GO_CHECKPOINT =
  "go.sum database tree\n63096908\n8lHrQPRYe4KT4WQ9/Qk8/taKnD6IRHbFgfN7vQE2Y54=\n\n" +
  "— sum.golang.org Az3gri/oVBN1jAhNZ/iS+W31psFAWRT20/GyrhpU6taFwulQGetBkH5S7wpGXdS935jiIGiUUAXBVHzT/P6fYhqAmAk=\n";

const { signer, privateKeyPem } = generateSigner("example.com/audit");
const stranger = generateSigner("example.com/stranger").signer;
const checkpoint: Checkpoint = { origin: "example.com/audit", size: 7, root: leafHash("x") };

/** Signs any text as a body, to see what the reader makes of it. */
function signText(text: string): string {
  return `${text}\n${signer.signatureLine(text)}`;
}

describe("published notes", () => {
  it("opens the example of the note format", () => {
    expect(openNote(NEUMANN_NOTE, [NEUMANN_KEY])).toEqual({ ok: true, text: NEUMANN_TEXT, signedBy: ["PeterNeumann"] });
  });

  it("signs the example with the published private key to the same bytes", () => {
    const pkcs8 = Buffer.from("302e020100300506032b657004220420", "hex");
    const der = Buffer.concat([pkcs8, Buffer.from(NEUMANN_SEED, "base64").subarray(1)]);
    const pem = `-----BEGIN PRIVATE KEY-----\n${der.toString("base64")}\n-----END PRIVATE KEY-----\n`;
    const neumann = createSigner({ name: "PeterNeumann", privateKeyPem: pem });
    expect(neumann.verifierKey).toBe(NEUMANN_KEY);
    expect(neumann.signatureLine(NEUMANN_TEXT)).toBe(NEUMANN_LINE);
  });

  it("refuses the example once its text, its name or its signature differs", () => {
    expect(openNote(NEUMANN_NOTE.replace("answer", "Answer"), [NEUMANN_KEY])).toMatchObject({
      problem: "bad_signature",
    });
    expect(openNote(NEUMANN_NOTE.replace("— Peter", "— Pieter"), [NEUMANN_KEY])).toMatchObject({
      problem: "bad_signature",
    });
    expect(openNote(NEUMANN_NOTE.replace("ZJkuBS", "ZJkuBT"), [NEUMANN_KEY])).toMatchObject({
      problem: "bad_signature",
    });
  });

  it("opens a tree head of the Go checksum database", () => {
    expect(openCheckpoint(GO_CHECKPOINT, [GO_KEY], { origin: "go.sum database tree" })).toEqual({
      ok: true,
      checkpoint: {
        origin: "go.sum database tree",
        size: 63_096_908,
        root: "f251eb40f4587b8293e1643dfd093cfed68a9c3e884476c581f37bbd0136639e",
      },
    });
  });
});

describe("a signed checkpoint", () => {
  it("is read back as it was signed", () => {
    const line = fc.string({ minLength: 1, unit: "grapheme" }).filter((text) => !/\p{Cc}/u.test(text));
    fc.assert(
      fc.property(line, fc.maxSafeNat(), fc.array(line, { minLength: 1, maxLength: 3 }), (origin, size, extensions) => {
        const root = size === 0 ? EMPTY_ROOT : leafHash(origin);
        const plain = { origin, size, root };
        const extended = { ...plain, extensions };
        expect(openCheckpoint(signCheckpoint(plain, signer), [signer.verifierKey])).toEqual({
          ok: true,
          checkpoint: plain,
        });
        expect(openCheckpoint(signCheckpoint(extended, signer), [signer.verifierKey])).toEqual({
          ok: true,
          checkpoint: extended,
        });
      }),
    );
  });

  it("has the layout of the specification", () => {
    expect(signCheckpoint(checkpoint, signer)).toMatch(
      /^example\.com\/audit\n7\n[A-Za-z0-9+/]{43}=\n\n— example\.com\/audit [A-Za-z0-9+/]{91}=\n$/,
    );
  });

  it("is the same from a signer that was made again from its stored key", () => {
    const again = createSigner({ name: "example.com/audit", privateKeyPem });
    expect(signCheckpoint(checkpoint, again)).toBe(signCheckpoint(checkpoint, signer));
  });

  it("does not open once any one byte differs", () => {
    const note = Buffer.from(signCheckpoint(checkpoint, signer));
    fc.assert(
      fc.property(fc.nat({ max: note.length - 1 }), fc.integer({ min: 1, max: 127 }), (at, change) => {
        const altered = Buffer.from(note);
        altered[at] = (altered[at] ?? 0) ^ change;
        expect(openCheckpoint(altered.toString("utf8"), [signer.verifierKey]).ok).toBe(false);
      }),
      { numRuns: 500 },
    );
  });

  it("opens with unknown signatures around the known one, which are ignored", () => {
    const note = signCheckpoint(checkpoint, signer);
    const text = note.slice(0, note.indexOf("\n\n") + 1);
    const nameSake = generateSigner("example.com/audit").signer;
    const crowded = `${text}\n${stranger.signatureLine(text)}${nameSake.signatureLine("other\n")}${signer.signatureLine(text)}`;
    expect(openCheckpoint(crowded, [signer.verifierKey])).toEqual({ ok: true, checkpoint });
  });

  it("is refused when a second known key signed something else", () => {
    const note = signCheckpoint(checkpoint, signer) + stranger.signatureLine("other\n");
    expect(openCheckpoint(note, [signer.verifierKey]).ok).toBe(true);
    expect(openCheckpoint(note, [signer.verifierKey, stranger.verifierKey])).toMatchObject({
      problem: "bad_signature",
    });
  });

  it("is refused without a known key, by a stranger, and for another log", () => {
    const note = signCheckpoint(checkpoint, signer);
    expect(openCheckpoint(note, [])).toMatchObject({ ok: false, problem: "bad_signature" });
    expect(openCheckpoint(note, [stranger.verifierKey])).toMatchObject({ ok: false, problem: "bad_signature" });
    expect(openCheckpoint(note, [signer.verifierKey], { origin: "example.com/other" })).toMatchObject({
      ok: false,
      problem: "bad_signature",
    });
  });
});

describe("malformed notes", () => {
  const note = signCheckpoint(checkpoint, signer);
  const root = Buffer.from(checkpoint.root, "hex").toString("base64");
  const emptyRoot = Buffer.from(EMPTY_ROOT, "hex").toString("base64");

  it.each<[string, string]>([
    ["nothing", ""],
    ["no signature", note.slice(0, note.indexOf("\n\n") + 2)],
    ["no last newline", note.slice(0, -1)],
    ["a carriage return", note.replace("\n", "\r\n")],
    ["a lone surrogate", note.replace("example", "\ud800")],
    ["text after the signatures", `${note}more\n`],
    ["a hyphen for the dash", note.replace("—", "-")],
    ["base64 without padding", `${note.slice(0, -2)}\n`],
    ["a short signature", `${note}— other AAAAAA==\n`.replace("AAAAAA==", "AAAAAA==".slice(0, 4))],
    ["a name with a plus", `${note}— a+b AAAAAAAA\n`],
    ["101 signatures", `${note}${"— a AAAAAAAA\n".repeat(100)}`],
    ["two lines", signText("example.com/audit\n7\n")],
    ["a leading zero", signText(`example.com/audit\n07\n${root}\n`)],
    ["a sign", signText(`example.com/audit\n+7\n${root}\n`)],
    ["a negative size", signText(`example.com/audit\n-7\n${root}\n`)],
    ["a fraction", signText(`example.com/audit\n7.0\n${root}\n`)],
    ["a size beyond safe integers", signText(`example.com/audit\n9007199254740992\n${root}\n`)],
    ["an empty origin", signText(`\n7\n${root}\n`)],
    ["an empty extension", signText(`example.com/audit\n7\n${root}\n\n`)],
    ["a short root", signText("example.com/audit\n7\nAAAA\n")],
    ["base64 that is not canonical", signText(`example.com/audit\n7\n${root.slice(0, -2)}${bumped(root)}=\n`)],
    ["a root of hexadecimal", signText(`example.com/audit\n7\n${checkpoint.root}\n`)],
    ["the root of an empty tree for 7 records", signText(`example.com/audit\n7\n${emptyRoot}\n`)],
    ["another root for no records", signText(`example.com/audit\n0\n${root}\n`)],
  ])("with %s are unreadable", (_name, bad) => {
    expect(openCheckpoint(bad, [signer.verifierKey])).toMatchObject({ ok: false, problem: "unreadable" });
  });

  /** The last digit of 32 bytes in base64 carries two unused bits; sets one of them. */
  function bumped(base64: string): string {
    const digits = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    return digits[digits.indexOf(base64.at(-2) ?? "") + 1] ?? "";
  }

  it("are refused when they are not text at all", () => {
    expect(openCheckpoint(undefined as unknown as string, [])).toMatchObject({ ok: false, problem: "unreadable" });
    expect(openCheckpoint("x".repeat(1_000_001), [])).toMatchObject({ ok: false, problem: "unreadable" });
  });
});

describe("misuse", () => {
  /** A key of another signature type whose own hash fits. */
  function keyOfType(type: number): string {
    const typed = Buffer.from(NEUMANN_KEY.slice(NEUMANN_KEY.lastIndexOf("+") + 1), "base64");
    typed[0] = type;
    const id = createHash("sha256").update("PeterNeumann\n").update(typed).digest("hex").slice(0, 8);
    return `PeterNeumann+${id}+${typed.toString("base64")}`;
  }

  it.each<[string, Checkpoint]>([
    ["an empty origin", { ...checkpoint, origin: "" }],
    ["an origin of two lines", { ...checkpoint, origin: "a\n9" }],
    ["an extension of two lines", { ...checkpoint, extensions: ["a\n\n"] }],
    ["an empty extension", { ...checkpoint, extensions: [""] }],
    ["a tab", { ...checkpoint, extensions: ["a\tb"] }],
    ["a negative size", { ...checkpoint, size: -1 }],
    ["size 0 with a root of records", { ...checkpoint, size: 0 }],
    ["a root in base64", { ...checkpoint, root: "AAAA" }],
  ])("is refused: signing %s", (_name, bad) => {
    expect(() => signCheckpoint(bad, signer)).toThrow(expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }));
  });

  it.each(["", "a b", "a+b", "a\u00a0b", "a\u0085b", "a\nb"])("is refused: a key named %j", (name) => {
    expect(() => generateSigner(name)).toThrow(expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }));
  });

  it.each([
    ["no key", ""],
    ["another hash", NEUMANN_KEY.replace("c74f20a3", "c74f20a4")],
    ["another name", NEUMANN_KEY.replace("Peter", "Pieter")],
    ["another type", keyOfType(2)],
    ["a short key", "PeterNeumann+c74f20a3+ARpc2Q=="],
  ])("is refused: a verifier key with %s", (_name, key) => {
    expect(() => openCheckpoint("", [key])).toThrow(expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }));
  });

  it("is refused: two different verifier keys with one name and id, found by trying", () => {
    const twin = (seed: string): string => {
      const typed = Buffer.concat([Buffer.of(1), createHash("sha256").update(seed).digest()]);
      return `twin+81206fd9+${typed.toString("base64")}`;
    };
    expect(openCheckpoint("", [twin("54983"), twin("54983")])).toMatchObject({ problem: "unreadable" });
    expect(() => openCheckpoint("", [twin("54983"), twin("68629")])).toThrow(/share the name and id twin\+81206fd9/);
  });

  it("is refused: a private key of another kind, without quoting it", () => {
    const { privateKey } = generateKeyPairSync("ec", { namedCurve: "P-256" });
    const pem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
    for (const bad of [pem, "secret", ""]) {
      expect(() => createSigner({ name: "a", privateKeyPem: bad })).toThrow(/Ed25519 key in PEM form/);
    }
    expect(() => createSigner({ name: "a", privateKeyPem: "secret" })).not.toThrow(/secret/);
  });

  it("does not show the private key of a signer", () => {
    const made = generateSigner("example.com/audit");
    expect(JSON.stringify(made.signer)).toBe(
      JSON.stringify({ name: "example.com/audit", verifierKey: made.signer.verifierKey }),
    );
  });
});
