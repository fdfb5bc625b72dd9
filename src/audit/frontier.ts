import { BelayError } from "../errors.ts";
import { EMPTY_ROOT, type HashHex, invalidHash, isHash, isSize, nodeHash } from "./merkle-hash.ts";

/**
 * All that a log must remember to go on: the roots of the complete subtrees, from the first (largest) to the last.
 *
 * There is one root for each 1 in the binary form of `size`, so a log of a million records needs at most 20.
 */
export interface Frontier {
  readonly size: number;
  readonly roots: readonly HashHex[];
}

export const EMPTY_FRONTIER: Frontier = Object.freeze({ size: 0, roots: Object.freeze([]) });

const SIZE_DIGITS = 16;
const HASH_DIGITS = 64;

/**
 * Returns the frontier with one more leaf; amortised constant time, the argument stays as it is.
 *
 * Throws `BELAY_AUDIT_INVALID` for a leaf that is not a hash.
 */
export function appendLeaf(frontier: Frontier, leaf: HashHex): Frontier {
  if (!isHash(leaf)) {
    throw invalidHash(leaf);
  }
  const roots = [...frontier.roots];
  let root = leaf;
  // Arithmetic, not bit operators: those would cut a size at 32 bits.
  for (let rest = frontier.size; rest % 2 === 1; rest = (rest - 1) / 2) {
    root = nodeHash(roots.pop() ?? "", root);
  }
  roots.push(root);
  return { size: frontier.size + 1, roots };
}

/** The Merkle tree root of the log at this size (RFC 6962, section 2.1). */
export function rootOf(frontier: Frontier): HashHex {
  return frontier.roots.length === 0 ? EMPTY_ROOT : frontier.roots.reduceRight((right, left) => nodeHash(left, right));
}

/** Writes a frontier as one string for one column: the size in 16 hexadecimal digits, then each root in 64. */
export function encodeFrontier(frontier: Frontier): string {
  return frontier.size.toString(16).padStart(SIZE_DIGITS, "0") + frontier.roots.join("");
}

/**
 * Reads what `encodeFrontier` wrote.
 *
 * Throws `BELAY_AUDIT_INVALID` when the text is not exactly that.
 */
export function decodeFrontier(encoded: string): Frontier {
  const frontier = parseFrontier(encoded);
  if (frontier === undefined) {
    throw new BelayError(
      "BELAY_AUDIT_INVALID",
      `The stored state of the audit tree is unreadable (${String(encoded).slice(0, SIZE_DIGITS)}…). ` +
        "Rebuild it by appending the stored leaf hashes in order, and verify the log before trusting it.",
    );
  }
  return frontier;
}

/** Reads what `encodeFrontier` wrote, or undefined. */
export function parseFrontier(encoded: unknown): Frontier | undefined {
  if (typeof encoded !== "string" || !/^[0-9a-f]*$/.test(encoded) || encoded.length < SIZE_DIGITS) {
    return undefined;
  }
  const size = Number.parseInt(encoded.slice(0, SIZE_DIGITS), 16);
  const roots: HashHex[] = [];
  for (let start = SIZE_DIGITS; start < encoded.length; start += HASH_DIGITS) {
    roots.push(encoded.slice(start, start + HASH_DIGITS));
  }
  const frontier = { size, roots };
  return isFrontier(frontier) ? frontier : undefined;
}

/** Whether a value has the shape of a frontier, with as many roots as its size asks for. */
export function isFrontier(value: unknown): value is Frontier {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const { size, roots } = value as Partial<Frontier>;
  return isSize(size) && Array.isArray(roots) && roots.length === subtreeSizes(size).length && roots.every(isHash);
}

/** The sizes of the complete subtrees of a tree, from the first (largest) to the last. */
export function subtreeSizes(size: number): number[] {
  const sizes: number[] = [];
  let subtree = 1;
  for (let rest = size; rest > 0; rest = Math.floor(rest / 2)) {
    if (rest % 2 === 1) {
      sizes.unshift(subtree);
    }
    subtree *= 2;
  }
  return sizes;
}
