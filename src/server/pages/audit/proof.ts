import type { HashHex } from "../../../audit/index.ts";
import type { Store } from "../../../journal/index.ts";
import type { ProofTree } from "../../audit/proof-tree.ts";

/** A record with everything that is needed to check it without this server. */
export interface RecordProof {
  readonly seq: number;
  /** Canonical JSON of the record, byte for byte. */
  readonly text: string;
  readonly leaf: HashHex;
  readonly size: number;
  readonly root: HashHex;
  /** Sibling hashes from the leaf to the root (RFC 9162, section 2.1.3). */
  readonly proof: readonly HashHex[];
  /** Signed notes of trees that held this record, as the store keeps them. */
  readonly checkpoints: readonly string[];
}

/** Proves that a record is in the tree as it stands now; undefined when there is no such record. */
export async function recordProof(
  { audit }: Pick<Store, "audit">,
  tree: ProofTree,
  seq: number,
): Promise<RecordProof | undefined> {
  const size = await audit.size();
  const [entry] = seq >= 0 && seq < size ? await audit.entries(seq, 1) : [];
  if (entry?.seq !== seq) {
    return undefined;
  }
  const { root, proof } = await tree.prove(seq, size);
  const checkpoints = await audit.checkpoints();
  return {
    seq,
    text: entry.text,
    leaf: entry.leaf,
    size,
    root,
    proof,
    checkpoints: checkpoints.filter((kept) => kept.size > seq).map(({ note }) => note),
  };
}
