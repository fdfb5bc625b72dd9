import { type HashHex, nodeHash } from "../../audit/index.ts";
import { BelayError } from "../../errors.ts";
import type { AuditReader } from "../../journal/index.ts";

/** Proofs from a tree that is kept in memory, so that one proof does not read the whole log. */
export interface ProofTree {
  /** The root of the first `size` records and the siblings from the record at `index` up to it (RFC 6962, 2.1). */
  prove(index: number, size: number): Promise<{ readonly root: HashHex; readonly proof: readonly HashHex[] }>;
}

const PAGE = 1000;

/**
 * Creates a tree over an audit log: the hashes of all complete subtrees, read once and then only what is new.
 *
 * About 130 bytes a record. What it says is checked by whoever gets the proof, so a log that was changed behind its
 * back only makes proofs that do not verify.
 */
export function createProofTree(audit: AuditReader): ProofTree {
  const levels: HashHex[][] = [[]];
  let reading: Promise<void> | undefined;
  const grow = async (): Promise<void> => {
    for (;;) {
      const leaves = levels[0] ?? [];
      const page = await audit.entries(leaves.length, PAGE);
      if (page.length === 0) return;
      for (const { seq, leaf } of page) {
        if (seq !== leaves.length) throw missing(leaves.length);
        append(levels, leaf);
      }
      // A long log must not keep others waiting.
      await new Promise((resolve) => setImmediate(resolve));
    }
  };
  return {
    async prove(index, size) {
      while ((levels[0]?.length ?? 0) < size) {
        const known = levels[0]?.length ?? 0;
        reading ??= grow().finally(() => {
          reading = undefined;
        });
        await reading;
        if ((levels[0]?.length ?? 0) === known) throw missing(known);
      }
      const proof: HashHex[] = [];
      let [start, end] = [0, size];
      while (end - start > 1) {
        const middle = start + splitOf(end - start);
        if (index < middle) {
          proof.push(rangeRoot(levels, middle, end));
          end = middle;
        } else {
          proof.push(rangeRoot(levels, start, middle));
          start = middle;
        }
      }
      return { root: rangeRoot(levels, 0, size), proof: proof.reverse() };
    },
  };
}

function append(levels: HashHex[][], leaf: HashHex): void {
  let hash = leaf;
  for (let level = 0; ; level += 1) {
    const nodes = levels[level] ?? [];
    levels[level] = nodes;
    nodes.push(hash);
    if (nodes.length % 2 === 1) return;
    hash = nodeHash(nodes.at(-2) ?? "", hash);
  }
}

/** The root of a range as RFC 6962 splits it; complete subtrees are looked up. */
function rangeRoot(levels: readonly (readonly HashHex[])[], start: number, end: number): HashHex {
  const count = end - start;
  const level = Math.log2(count);
  if (Number.isInteger(level) && start % count === 0) return levels[level]?.[start / count] ?? "";
  const middle = start + splitOf(count);
  return nodeHash(rangeRoot(levels, start, middle), rangeRoot(levels, middle, end));
}

/** The largest power of two below a count of at least two. */
function splitOf(count: number): number {
  let split = 1;
  while (split * 2 < count) split *= 2;
  return split;
}

function missing(seq: number): BelayError {
  return new BelayError("BELAY_STORE_CORRUPT", `The audit log has lost record ${seq}. Run belay audit verify.`);
}
