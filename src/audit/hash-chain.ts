import { hash } from "node:crypto";
import { canonicalize } from "../core/index.ts";
import { canonicalJson } from "./canonical-json.ts";
import type { HashHex } from "./merkle-hash.ts";

/** What the first line of a chain links to: 64 zeros. */
export const CHAIN_GENESIS: HashHex = "0".repeat(64);

/**
 * Whether a chain is intact, or its first bad line (from 0).
 *
 * `anchor_missing`: every line fits, but none has the anchored hash, so lines were removed from the end or the whole
 * file was rewritten; `line` is then where the file ends.
 */
export type ChainVerdict =
  | { readonly ok: true; readonly size: number }
  | { readonly ok: false; readonly line: number; readonly problem: "bad_line" | "anchor_missing" };

/**
 * Exports records as a hash chain, one line `{"hash":…,"prev":…,"record":…}` each, without the newline.
 *
 * hash = SHA-256(prev + canonical JSON of the record), in hexadecimal. Write each line with "\n" after it. Throws
 * `BELAY_CANONICAL_JSON` for a record that JSON cannot hold.
 */
export function* chainLines(
  records: Iterable<unknown>,
  previousHash: HashHex = CHAIN_GENESIS,
): Generator<string, void, undefined> {
  let previous = previousHash;
  for (const record of records) {
    const text = canonicalJson(record);
    const next = linkHash(previous, text);
    yield lineOf(next, previous, text);
    previous = next;
  }
}

/**
 * Checks a hash chain line by line; an empty or missing file is intact.
 *
 * Whoever can write the file can compute every hash again, and can remove whole lines from its end: the chain alone
 * shows neither. Keep its last hash elsewhere and pass it as `anchor`: one line must then have that hash, which shows
 * both, while lines added since remain welcome. Never throws for bad data.
 */
export function verifyChain(
  chain: string | Iterable<string> | undefined,
  options: { readonly anchor?: HashHex } = {},
): ChainVerdict {
  const { anchor } = options;
  let previous = CHAIN_GENESIS;
  let isAnchored = anchor === undefined || anchor === CHAIN_GENESIS;
  let size = 0;
  for (const line of typeof chain === "string" ? linesOf(chain) : (chain ?? [])) {
    const next = checkLine(line, previous);
    if (next === undefined) {
      return { ok: false, line: size, problem: "bad_line" };
    }
    isAnchored ||= next === anchor;
    previous = next;
    size += 1;
  }
  return isAnchored ? { ok: true, size } : { ok: false, line: size, problem: "anchor_missing" };
}

/** Returns the hash of a line that follows `previous`, or undefined when the line is not exactly what was written. */
function checkLine(line: string, previous: HashHex): HashHex | undefined {
  let parsed: unknown;
  try {
    parsed = JSON.parse(line);
  } catch {
    return undefined;
  }
  if (typeof parsed !== "object" || parsed === null || !("record" in parsed)) {
    return undefined;
  }
  const record = canonicalize(parsed.record);
  if (!record.ok) {
    return undefined;
  }
  const next = linkHash(previous, record.text);
  // Comparing whole lines also refuses further keys, repeated keys, other spacing and a false prev or hash.
  return lineOf(next, previous, record.text) === line ? next : undefined;
}

function linkHash(previous: HashHex, recordText: string): HashHex {
  return hash("sha256", previous + recordText);
}

function lineOf(own: HashHex, previous: HashHex, recordText: string): string {
  return `{"hash":"${own}","prev":"${previous}","record":${recordText}}`;
}

function linesOf(text: string): string[] {
  const lines = text.split("\n");
  // What follows the last newline is a line only when it is not empty.
  return lines.at(-1) === "" ? lines.slice(0, -1) : lines;
}
