import { hash } from "node:crypto";
import { BelayError } from "../errors.ts";

/** A SHA-256 hash as 64 lowercase hexadecimal digits: plain data that compares with `===`. */
export type HashHex = string;

const HASH_HEX_LENGTH = 64;
const HASH_PATTERN = /^[0-9a-f]{64}$/;

/** The root of a tree without leaves: SHA-256 of nothing (RFC 6962, section 2.1). */
export const EMPTY_ROOT: HashHex = hash("sha256", "");

// 0x01 ‖ left ‖ right. Reused because hashing is synchronous, so no two nodes are ever in it at once.
const node = Buffer.alloc(65, 1);

/** Hashes one record: SHA-256(0x00 ‖ bytes) (RFC 6962, section 2.1); a string stands for its UTF-8 bytes. */
export function leafHash(bytes: Uint8Array | string): HashHex {
  return typeof bytes === "string"
    ? hash("sha256", `\u0000${bytes}`)
    : hash("sha256", Buffer.concat([Buffer.of(0), bytes]));
}

/**
 * Joins two subtrees: SHA-256(0x01 ‖ left ‖ right) (RFC 6962, section 2.1).
 *
 * Throws `BELAY_AUDIT_INVALID` when either is not a SHA-256 hash in hexadecimal.
 */
export function nodeHash(left: HashHex, right: HashHex): HashHex {
  if (
    left.length !== HASH_HEX_LENGTH ||
    right.length !== HASH_HEX_LENGTH ||
    node.write(left, 1, 32, "hex") !== 32 ||
    node.write(right, 33, 32, "hex") !== 32
  ) {
    throw invalidHash(isHash(left) ? right : left);
  }
  return hash("sha256", node);
}

/** Whether a value is a SHA-256 hash as 64 lowercase hexadecimal digits. */
export function isHash(value: unknown): value is HashHex {
  return typeof value === "string" && HASH_PATTERN.test(value);
}

/** Whether a value can be a number of leaves, or the place of one. */
export function isSize(value: unknown): value is number {
  return Number.isSafeInteger(value) && (value as number) >= 0;
}

export function invalidHash(value: unknown): BelayError {
  return new BelayError(
    "BELAY_AUDIT_INVALID",
    `A hash of the audit tree must be 64 lowercase hexadecimal digits, not ${String(value).slice(0, 80)}. ` +
      "Pass what leafHash(), nodeHash() or rootOf() returned.",
  );
}
