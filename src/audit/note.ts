import { verify } from "node:crypto";
import { BelayError } from "../errors.ts";
import { fromBase64, isKeyName, type NoteKey, parseVerifierKey } from "./note-key.ts";

/** The text of a note that a known key signed, or why it cannot be trusted. */
export type OpenedNote =
  | { readonly ok: true; readonly text: string; readonly signedBy: readonly string[] }
  | NoteRefusal;

/** `unreadable`: not in the format. `bad_signature`: no known key signed it, or the signature of one does not fit. */
export interface NoteRefusal {
  readonly ok: false;
  readonly problem: "unreadable" | "bad_signature";
  readonly detail: string;
}

interface SignatureLine {
  readonly name: string;
  readonly idHex: string;
  readonly signature: Buffer;
}

// Bounds the work on a note from a stranger; sixteen post-quantum signatures of 5 kB still fit.
const NOTE_LENGTH_MAX = 1_000_000;
const SIGNATURES_MAX = 100;
const KEY_ID_BYTES = 4;

/**
 * Reads a signed note and checks it with the given verifier keys (C2SP signed-note).
 *
 * Signatures of unknown keys are ignored; one bad signature of a known key refuses the note. Never throws for a bad
 * note. Throws `BELAY_AUDIT_INVALID` for a bad verifier key.
 */
export function openNote(note: string, verifierKeys: readonly string[]): OpenedNote {
  const keys = readKeys(verifierKeys);
  const parsed = parseNote(note);
  if ("ok" in parsed) {
    return parsed;
  }
  const signedBy = new Set<string>();
  for (const { name, idHex, signature } of parsed.signatures) {
    const key = keys.get(`${name}+${idHex}`);
    if (key === undefined) {
      continue;
    }
    if (!verify(null, Buffer.from(parsed.text), key.publicKey, signature)) {
      return { ok: false, problem: "bad_signature", detail: `the signature of ${name} does not fit the text` };
    }
    signedBy.add(name);
  }
  if (signedBy.size === 0) {
    const names = [...new Set([...keys.values()].map((key) => key.name))].join(", ") || "no key was given";
    return { ok: false, problem: "bad_signature", detail: `none of the known keys signed it (${names})` };
  }
  return { ok: true, text: parsed.text, signedBy: [...signedBy] };
}

function readKeys(verifierKeys: readonly string[]): Map<string, NoteKey> {
  const keys = new Map<string, NoteKey>();
  for (const verifierKey of verifierKeys) {
    const key = parseVerifierKey(verifierKey);
    const label = `${key.name}+${key.idHex}`;
    const known = keys.get(label);
    if (known !== undefined && !known.publicKey.equals(key.publicKey)) {
      throw new BelayError(
        "BELAY_AUDIT_INVALID",
        `Two different verifier keys share the name and id ${label}, so a signature cannot tell them apart. ` +
          "Remove the one that is not yours.",
      );
    }
    keys.set(label, key);
  }
  return keys;
}

function parseNote(note: unknown): { text: string; signatures: SignatureLine[] } | NoteRefusal {
  if (typeof note !== "string" || note.length > NOTE_LENGTH_MAX) {
    return unreadable(`a note is a text of at most ${NOTE_LENGTH_MAX} characters`);
  }
  if (!note.isWellFormed() || hasControlCharacter(note)) {
    return unreadable("a note holds no control character but newline, and no lone surrogate");
  }
  const split = note.lastIndexOf("\n\n");
  if (split === -1 || !note.endsWith("\n")) {
    return unreadable("a note is a text, an empty line and signature lines, each ended by a newline");
  }
  const lines = note
    .slice(split + 2)
    .split("\n")
    .slice(0, -1);
  if (lines.length === 0 || lines.length > SIGNATURES_MAX) {
    return unreadable(`a note has 1 to ${SIGNATURES_MAX} signature lines, not ${lines.length}`);
  }
  const signatures = lines.map(parseSignatureLine);
  return signatures.every((line) => line !== undefined)
    ? { text: note.slice(0, split + 1), signatures }
    : unreadable("a signature line is not: em dash, space, name, space, base64");
}

function parseSignatureLine(line: string): SignatureLine | undefined {
  const [, name, encoded] = /^— (\S+) (\S+)$/u.exec(line) ?? [];
  const bytes = encoded === undefined ? undefined : fromBase64(encoded);
  if (!isKeyName(name) || bytes === undefined || bytes.length <= KEY_ID_BYTES) {
    return undefined;
  }
  return { name, idHex: bytes.toString("hex", 0, KEY_ID_BYTES), signature: bytes.subarray(KEY_ID_BYTES) };
}

/** Whether a text holds a character below U+0020 other than newline. */
export function hasControlCharacter(text: string): boolean {
  return /[^\P{Cc}\n\u007f-\u009f]/u.test(text);
}

function unreadable(detail: string): NoteRefusal {
  return { ok: false, problem: "unreadable", detail };
}
