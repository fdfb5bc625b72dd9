import { defineConfig } from "vitest/config";
import base from "./vitest.config.ts";

/** The tests that mutants of the core, the policy, approvals and the audit log are run against: quick, and no process. */
export default defineConfig({
  ...base,
  test: { include: ["test/{core,policy,approval,audit}/**/*.test.ts", "test/engine/approval*.test.ts"] },
});
