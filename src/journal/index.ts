export { argsHash } from "../tool/index.ts";
export { type AppendedRecord, appendRecords, type UnplacedRecord, unplacedRecords } from "./append-records.ts";
export { approvalIsIntact } from "./approval-intact.ts";
export { type AuditSource, auditRecordOf, isAudited } from "./audit-record.ts";
export { type CallFacts, callFacts } from "./call-facts.ts";
export { checkBlob } from "./check-blob.ts";
export { checkClock } from "./clock-guard.ts";
export { type Repair, type RowComparison, readRow, readRows, rowComparison } from "./compare-rows.ts";
export { type DerivedRun, deriveRun } from "./derive-run.ts";
export { JOURNAL_GENESIS, journalLink, type LinkedEvent } from "./journal-chain.ts";
export { createListeners, type Listeners } from "./listeners.ts";
export { checkCheckpointSize } from "./memory-audit.ts";
export { isUnfinished, pageRows } from "./memory-queries.ts";
export { createMemoryStore, type MemoryStoreOptions, storeClosed } from "./memory-store.ts";
export { blobHashesIn, planRetirement, type RetirementPlan, type RetirementView } from "./plan-retirement.ts";
export {
  checkRunKey,
  type PreparedCommit,
  type PreparedEntry,
  prepareCommit,
  prepareRetirement,
} from "./prepare-commit.ts";
export {
  type EventPlace,
  type ProjectedCommit,
  type ProjectionChanges,
  type ProjectionView,
  projectCommit,
} from "./project-commit.ts";
export * from "./projections.ts";
export { linePages, tracedPages } from "./read-pages.ts";
export { ACCOUNT_SUFFIX, isReservation } from "./reservation.ts";
export { type RetireRunsOptions, type RetireRunsResult, retireRuns } from "./retire-runs.ts";
export { rowName, sumBudgets } from "./row-sums.ts";
export * from "./store.ts";
export { OTHER_FAILURE, type StoreFailure, storeFailure } from "./store-failure.ts";
export type { DerivedFailure, JournalFailure, StoreAuditVerdict } from "./store-verdict.ts";
export { decodeEvent, decodeLine, encodeEvent } from "./stored-entry.ts";
export {
  type StoredRow,
  toApprovalRow,
  toAuditEntry,
  toBudgetRow,
  toJournalLine,
  toReservation,
  toRunKey,
  toRunProjection,
  toTracedRecord,
} from "./stored-rows.ts";
export { findStuckRuns, type StuckRun, type StuckRunsOptions } from "./stuck-runs.ts";
export { type VerifyStoreOptions, verifyStoreAudit } from "./verify-store.ts";
export { STUCK, type StuckWatcher, stuckAlarm, stuckWatcher, watchStuck } from "./watch-stuck.ts";
