import { canonicalize } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { canonicalJson } from "./canonical-json.ts";
import { type HashHex, isHash, isSize, leafHash } from "./merkle-hash.ts";
import type { RecordFailure } from "./verdict.ts";

/** One record as a log stores it. The log does not care what fields a record has. */
export interface AuditEntry {
  /** Place in the tree, from 0. */
  readonly seq: number;
  /** Canonical JSON of the record, an object. */
  readonly text: string;
  /** Leaf hash of the text's UTF-8 bytes. */
  readonly leaf: HashHex;
}

/**
 * Makes the stored form of a record that takes place `seq` (from 0) in the tree.
 *
 * Throws `BELAY_CANONICAL_JSON` for a record that JSON cannot hold, `BELAY_AUDIT_INVALID` for a bad place or a record
 * that is not an object.
 */
export function createAuditEntry(seq: number, record: object): AuditEntry {
  const text = canonicalJson(record);
  if (!isSize(seq) || !text.startsWith("{")) {
    throw new BelayError(
      "BELAY_AUDIT_INVALID",
      `An audit record must be an object with a place from 0, not ${text.slice(0, 40)} at ${seq}. ` +
        "Pass the size of the frontier as the place.",
    );
  }
  return { seq, text, leaf: leafHash(text) };
}

/** Finds what is wrong with the entry that was read where `seq` belongs, looking at nothing else. */
export function checkEntry(entry: unknown, seq: number): RecordFailure | undefined {
  if (!isEntry(entry)) {
    return { ok: false, problem: "unreadable", seq, detail: `record ${seq} is not {seq, text, leaf}` };
  }
  if (entry.seq !== seq) {
    const found = entry.seq > seq ? "follows instead" : "stands in its place";
    return { ok: false, problem: "missing", seq, detail: `record ${seq} is missing: record ${entry.seq} ${found}` };
  }
  if (leafHash(entry.text) !== entry.leaf) {
    return { ok: false, problem: "changed", seq, detail: `the text of record ${seq} does not hash to its stored leaf` };
  }
  if (!isCanonicalObject(entry.text)) {
    const detail = `the text of record ${seq} is not the canonical JSON of an object`;
    return { ok: false, problem: "not_canonical", seq, detail };
  }
  return undefined;
}

function isEntry(entry: unknown): entry is AuditEntry {
  if (typeof entry !== "object" || entry === null) {
    return false;
  }
  const { seq, text, leaf } = entry as Partial<AuditEntry>;
  return isSize(seq) && typeof text === "string" && isHash(leaf);
}

function isCanonicalObject(text: string): boolean {
  if (!text.startsWith("{")) {
    return false;
  }
  try {
    const result = canonicalize(JSON.parse(text));
    return result.ok && result.text === text;
  } catch {
    return false;
  }
}
