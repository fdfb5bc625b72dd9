import { type OpenedCheckpoint, openCheckpoint } from "./checkpoint.ts";
import { type Frontier, isFrontier, parseFrontier, rootOf, subtreeSizes } from "./frontier.ts";
import { EMPTY_ROOT, type HashHex, isHash, isSize } from "./merkle-hash.ts";
import type { EvidenceFailure } from "./verdict.ts";

/** A size and root that somebody kept, as plain data, in a place that the log's operator cannot write. */
export interface TrustedRoot {
  readonly size: number;
  readonly root: HashHex;
}

/** What the records are held against. */
export interface AuditEvidence {
  /** Newest signed checkpoint of the log; the log may have grown since. */
  readonly checkpoint?: string;
  /** Checkpoints kept elsewhere, as signed notes or as plain size and root; each detects rollback and rewriting. */
  readonly trustedCheckpoints?: readonly (string | TrustedRoot)[];
  /** Verifier keys (`signer.verifierKey`) of the log and its witnesses; a note that none of them signed is refused. */
  readonly verifierKeys?: readonly string[];
  /** Which log the signed checkpoints must be of; without it they must at least agree. */
  readonly origin?: string;
  /** The stored state of the tree, read in the same transaction as the records; the log must end exactly there. */
  readonly frontier?: Frontier | string;
  /** Exact number of records. */
  readonly expectedSize?: number;
}

/** At this size the tree must have this root. */
export interface Anchor extends TrustedRoot {
  readonly source: "checkpoint" | "stored state";
}

export interface CollectedEvidence {
  /** By size, from 1: no record can be held against an empty tree, whose root is checked when it is read. */
  readonly anchors: readonly Anchor[];
  readonly sizeMin: number;
  readonly sizeMax: number;
  /** The first evidence that cannot be used. */
  readonly failure: EvidenceFailure | undefined;
}

/** Turns every kind of evidence into anchors, and keeps the first that cannot be used. */
export function collectEvidence(evidence: AuditEvidence): CollectedEvidence {
  const { frontier, expectedSize } = evidence;
  const failures: EvidenceFailure[] = [];
  const anchors = checkpointAnchors(evidence, failures);
  const exactSizes: number[] = [];
  if (frontier !== undefined) {
    const state = typeof frontier === "string" ? parseFrontier(frontier) : frontier;
    if (isFrontier(state)) {
      anchors.push(...frontierAnchors(state));
      exactSizes.push(state.size);
    } else {
      failures.push(failure("unreadable", "the stored state of the tree is unreadable"));
    }
  }
  if (isSize(expectedSize)) {
    exactSizes.push(expectedSize);
  } else if (expectedSize !== undefined) {
    failures.push(failure("unreadable", `the expected size ${String(expectedSize)} is not a number of records`));
  }
  const bySize = anchors.filter((anchor) => anchor.size > 0).sort((one, other) => one.size - other.size);
  return {
    anchors: bySize,
    sizeMin: Math.max(0, bySize.at(-1)?.size ?? 0, ...exactSizes),
    sizeMax: Math.min(Number.POSITIVE_INFINITY, ...exactSizes),
    failure: failures[0],
  };
}

function checkpointAnchors(evidence: AuditEvidence, failures: EvidenceFailure[]): Anchor[] {
  const { checkpoint, trustedCheckpoints = [], verifierKeys = [] } = evidence;
  const anchors: Anchor[] = [];
  let origin = evidence.origin;
  for (const kept of checkpoint === undefined ? trustedCheckpoints : [checkpoint, ...trustedCheckpoints]) {
    const opened =
      typeof kept === "string" ? openCheckpoint(kept, verifierKeys, origin ? { origin } : {}) : plain(kept);
    if (!opened.ok) {
      failures.push(failure(opened.problem, `a checkpoint cannot be used: ${opened.detail}`));
      continue;
    }
    const { size, root } = opened.checkpoint;
    origin ??= opened.checkpoint.origin || undefined;
    anchors.push({ size, root, source: "checkpoint" });
  }
  return anchors;
}

function plain(kept: TrustedRoot): OpenedCheckpoint {
  const { size, root } = kept;
  return isSize(size) && isHash(root) && (size === 0) === (root === EMPTY_ROOT)
    ? { ok: true, checkpoint: { origin: "", size, root } }
    : { ok: false, problem: "unreadable", detail: "its size and root are not those of a tree" };
}

/** Each complete subtree ends at a size whose root is known, so the state narrows a rewriting down. */
function frontierAnchors({ size, roots }: Frontier): Anchor[] {
  let reached = 0;
  return subtreeSizes(size).map((subtree, index) => {
    reached += subtree;
    return { size: reached, root: rootOf({ size: reached, roots: roots.slice(0, index + 1) }), source: "stored state" };
  });
}

function failure(problem: EvidenceFailure["problem"], detail: string): EvidenceFailure {
  return { ok: false, problem, seq: null, detail };
}
