import { BelayError } from "../errors.ts";
import { appendLeaf, EMPTY_FRONTIER, rootOf } from "./frontier.ts";
import { type HashHex, isSize } from "./merkle-hash.ts";

/**
 * Proves that the record at `index` (from 0) is in the tree of the first `size` leaves (RFC 6962, section 2.1.1).
 *
 * The shape is the list of sibling hashes from the leaf to the root. Throws `BELAY_AUDIT_INVALID` when the index or
 * the size lies outside the leaves.
 */
export function inclusionProof(
  leafHashes: readonly HashHex[],
  index: number,
  size: number = leafHashes.length,
): HashHex[] {
  if (!isSize(size) || size > leafHashes.length || !isSize(index) || index >= size) {
    throw outside(`index ${index} of size ${size}`, leafHashes.length);
  }
  const proof: HashHex[] = [];
  let start = 0;
  let end = size;
  // From the root down, so the proof is collected in reverse.
  while (end - start > 1) {
    const middle = start + splitOf(end - start);
    if (index < middle) {
      proof.push(rangeRoot(leafHashes, middle, end));
      end = middle;
    } else {
      proof.push(rangeRoot(leafHashes, start, middle));
      start = middle;
    }
  }
  return proof.reverse();
}

/**
 * Proves that the tree of `oldSize` leaves is the beginning of the tree of `newSize` leaves (RFC 6962, 2.1.2).
 *
 * Empty when the sizes are equal, and when the old tree is empty, which is the beginning of every tree. Throws
 * `BELAY_AUDIT_INVALID` unless oldSize <= newSize <= the number of leaves.
 */
export function consistencyProof(leafHashes: readonly HashHex[], oldSize: number, newSize: number): HashHex[] {
  if (!isSize(oldSize) || !isSize(newSize) || oldSize > newSize || newSize > leafHashes.length) {
    throw outside(`sizes ${oldSize} and ${newSize}`, leafHashes.length);
  }
  if (oldSize === 0 || oldSize === newSize) {
    return [];
  }
  const proof: HashHex[] = [];
  let start = 0;
  let end = newSize;
  while (end !== oldSize) {
    const middle = start + splitOf(end - start);
    if (oldSize <= middle) {
      proof.push(rangeRoot(leafHashes, middle, end));
      end = middle;
    } else {
      proof.push(rangeRoot(leafHashes, start, middle));
      start = middle;
    }
  }
  // The verifier has the root of the whole old tree already; any other last subtree must be told.
  if (start !== 0) {
    proof.push(rangeRoot(leafHashes, start, end));
  }
  return proof.reverse();
}

/** The largest power of two below a count of at least two: how RFC 6962 splits a tree. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) {
    split *= 2;
  }
  return split;
}

function rangeRoot(leafHashes: readonly HashHex[], start: number, end: number): HashHex {
  let frontier = EMPTY_FRONTIER;
  for (const leaf of leafHashes.slice(start, end)) {
    frontier = appendLeaf(frontier, leaf);
  }
  return rootOf(frontier);
}

function outside(asked: string, count: number): BelayError {
  return new BelayError(
    "BELAY_AUDIT_INVALID",
    `A proof for ${asked} cannot be made from ${count} leaf hashes. Pass all leaf hashes up to that size, from 0.`,
  );
}
