import { EMPTY_ROOT, type HashHex, isHash, isSize, nodeHash } from "./merkle-hash.ts";

/** What an inclusion proof claims: `leaf` is the record at `index` (from 0) of the tree with `size` and `root`. */
export interface InclusionClaim {
  readonly leaf: HashHex;
  readonly index: number;
  readonly size: number;
  readonly root: HashHex;
  readonly proof: readonly HashHex[];
}

/** What a consistency proof claims: the old tree is the beginning of the new one. */
export interface ConsistencyClaim {
  readonly oldSize: number;
  readonly oldRoot: HashHex;
  readonly newSize: number;
  readonly newRoot: HashHex;
  readonly proof: readonly HashHex[];
}

/** Checks an inclusion proof (RFC 9162, section 2.1.3.2); anything malformed is false, never an exception. */
export function verifyInclusion(claim: InclusionClaim): boolean {
  const { leaf, index, size, root, proof } = claim;
  if (!isHash(leaf) || !isHash(root) || !isSize(index) || !isSize(size) || index >= size || !isProof(proof)) {
    return false;
  }
  let place = index;
  let last = size - 1;
  let computed = leaf;
  for (const sibling of proof) {
    if (last === 0) {
      return false;
    }
    if (place % 2 === 1 || place === last) {
      computed = nodeHash(sibling, computed);
      // The last node of a level has no right neighbour until it becomes a right child itself.
      while (place % 2 === 0 && place !== 0) {
        place = half(place);
        last = half(last);
      }
    } else {
      computed = nodeHash(computed, sibling);
    }
    place = half(place);
    last = half(last);
  }
  return last === 0 && computed === root;
}

/** Checks a consistency proof (RFC 9162, section 2.1.4.2); anything malformed is false, never an exception. */
export function verifyConsistency(claim: ConsistencyClaim): boolean {
  const { oldSize, oldRoot, newSize, newRoot, proof } = claim;
  if (!isSize(oldSize) || !isSize(newSize) || !isHash(oldRoot) || !isHash(newRoot) || !isProof(proof)) {
    return false;
  }
  if (oldSize > newSize) {
    return false;
  }
  if (oldSize === newSize) {
    return proof.length === 0 && oldRoot === newRoot && (oldSize !== 0 || oldRoot === EMPTY_ROOT);
  }
  if (oldSize === 0) {
    return proof.length === 0 && oldRoot === EMPTY_ROOT;
  }
  return proof.length > 0 && walkConsistency(claim);
}

function walkConsistency({ oldSize, oldRoot, newSize, newRoot, proof }: ConsistencyClaim): boolean {
  let place = oldSize - 1;
  let last = newSize - 1;
  while (place % 2 === 1) {
    place = half(place);
    last = half(last);
  }
  // When the old tree is one complete subtree its root is the start, and the proof does not repeat it.
  const [start = "", ...rest] = place === 0 ? [oldRoot, ...proof] : proof;
  let oldComputed = start;
  let newComputed = start;
  for (const sibling of rest) {
    if (last === 0) {
      return false;
    }
    if (place % 2 === 1 || place === last) {
      oldComputed = nodeHash(sibling, oldComputed);
      newComputed = nodeHash(sibling, newComputed);
      while (place % 2 === 0 && place !== 0) {
        place = half(place);
        last = half(last);
      }
    } else {
      newComputed = nodeHash(newComputed, sibling);
    }
    place = half(place);
    last = half(last);
  }
  return last === 0 && oldComputed === oldRoot && newComputed === newRoot;
}

function isProof(proof: unknown): proof is readonly HashHex[] {
  return Array.isArray(proof) && proof.every(isHash);
}

function half(value: number): number {
  return Math.floor(value / 2);
}
