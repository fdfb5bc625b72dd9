export { argsHash } from "../tool/index.ts";
export { type AppendedRecord, appendRecords } from "./append-records.ts";
export { approvalIsIntact } from "./approval-intact.ts";
export { type AuditSource, auditRecordOf, isAudited } from "./audit-record.ts";
export { type CallFacts, callFacts } from "./call-facts.ts";
export { checkBlob } from "./check-blob.ts";
export { checkClock } from "./clock-guard.ts";
export { JOURNAL_GENESIS, journalLink, type LinkedEvent } from "./journal-chain.ts";
export { createListeners, type Listeners } from "./listeners.ts";
export { checkCheckpointSize } from "./memory-audit.ts";
export { isUnfinished, pageRows } from "./memory-queries.ts";
export { createMemoryStore, type MemoryStoreOptions, storeClosed } from "./memory-store.ts";
export { checkRunKey, type PreparedCommit, type PreparedEntry, prepareCommit } from "./prepare-commit.ts";
export {
  type EventPlace,
  type ProjectedCommit,
  type ProjectionChanges,
  type ProjectionView,
  projectCommit,
} from "./project-commit.ts";
export * from "./projections.ts";
export * from "./store.ts";
export type { DerivedFailure, JournalFailure, StoreAuditVerdict } from "./store-verdict.ts";
export { decodeEvent, decodeLine, encodeEvent } from "./stored-entry.ts";
export { type VerifyStoreOptions, verifyStoreAudit } from "./verify-store.ts";
