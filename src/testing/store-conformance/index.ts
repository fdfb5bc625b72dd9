import type { ConformanceCase } from "../conformance-case.ts";
import { APPROVAL_CASES } from "./approval-cases.ts";
import { AUDIT_CASES } from "./audit-cases.ts";
import { BUDGET_CASES } from "./budget-cases.ts";
import { COMMIT_CASES } from "./commit-cases.ts";
import { LEASE_CASES } from "./lease-cases.ts";
import { LIFE_CASES } from "./life-cases.ts";
import { QUERY_CASES } from "./query-cases.ts";
import { RETENTION_CASES } from "./retention-cases.ts";
import type { OpenedStore } from "./store-case.ts";

/**
 * Everything that a store promises, as cases for any test runner.
 *
 * `open` gives a fresh, empty store for each case. A store without `reopen` passes the case about opening again unseen, and
 * one without `retention` those about forgetting.
 */
export function storeConformance(open: () => Promise<OpenedStore>): readonly ConformanceCase[] {
  const cases = [
    ...COMMIT_CASES,
    ...BUDGET_CASES,
    ...APPROVAL_CASES,
    ...QUERY_CASES,
    ...LEASE_CASES,
    ...AUDIT_CASES,
    ...LIFE_CASES,
    ...RETENTION_CASES,
  ];
  return cases.map(({ name, run }) => ({
    name,
    run: async () => {
      const opened = await open();
      try {
        await run(opened);
      } finally {
        await opened.close();
      }
    },
  }));
}
