export { inspectSqliteStore, type SqliteFacts } from "./inspect-store.ts";
export { rebuildProjections } from "./rebuild-projections.ts";
export { withSavepoint } from "./savepoint.ts";
export { openSqliteStore, type SqliteStoreOptions } from "./sqlite-store.ts";
export { createSqliteWaker, type SqliteWakerOptions } from "./sqlite-waker.ts";
