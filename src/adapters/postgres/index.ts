export { rebuildPostgresProjections } from "./find-differences.ts";
export { inspectPostgresStore, type PostgresFacts } from "./inspect-store.ts";
export type { PostgresClient, PostgresPool, PostgresStoreOptions } from "./options.ts";
export { createPgBossWaker, type PgBossWaker } from "./pg-boss-waker.ts";
export { createPostgresStore } from "./postgres-store.ts";
export type { PgBossAlarm, PgBossWakerOptions } from "./waker-options.ts";
