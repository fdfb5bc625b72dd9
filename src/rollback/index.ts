export { createRollback, type Rollback, type RollbackOptions } from "./create-rollback.ts";
