export type { AuditEvidence, TrustedRoot } from "./anchor.ts";
export { canonicalJson } from "./canonical-json.ts";
export { type Checkpoint, type OpenedCheckpoint, openCheckpoint, signCheckpoint } from "./checkpoint.ts";
export { type AuditEntry, createAuditEntry } from "./entry.ts";
export {
  appendLeaf,
  decodeFrontier,
  EMPTY_FRONTIER,
  encodeFrontier,
  type Frontier,
  parseFrontier,
  rootOf,
} from "./frontier.ts";
export { CHAIN_GENESIS, type ChainVerdict, chainLines, verifyChain } from "./hash-chain.ts";
export { EMPTY_ROOT, type HashHex, leafHash, nodeHash } from "./merkle-hash.ts";
export type { NoteRefusal } from "./note.ts";
export { consistencyProof, inclusionProof } from "./proof-make.ts";
export { type ConsistencyClaim, type InclusionClaim, verifyConsistency, verifyInclusion } from "./proof-verify.ts";
export { createSigner, generateSigner, type NoteSigner } from "./signer.ts";
export type {
  AuditFailure,
  AuditIntact,
  AuditVerdict,
  EvidenceFailure,
  RangeFailure,
  RecordFailure,
} from "./verdict.ts";
export { type VerifyLogOptions, verifyLog } from "./verify-log.ts";
