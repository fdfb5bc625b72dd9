import { expect, it } from "vitest";
import type { ApprovalRow, ApprovalsQuery, Store } from "../../src/journal/index.ts";
import { openServerDatabase } from "../../src/server/index.ts";
import { createDeliveries } from "../../src/server/webhook/deliveries.ts";
import { createOpenQuestions } from "../../src/server/webhook/open-questions.ts";

const HOUR_MS = 3_600_000;

it("finds what is due behind any number of questions, and does not read again what is settled", async () => {
  let now = HOUR_MS;
  const rows = Array.from({ length: 1201 }, (_, index) => ({
    ...{ tenant: "default", approvalId: `apr_${index}`, requestedAt: index, expiresAt: 24 * HOUR_MS },
  })) as unknown as readonly ApprovalRow[];
  const read: number[] = [];
  const store = {
    approvals: async ({ after, limit = 1000 }: ApprovalsQuery) => {
      const from = rows.findIndex(({ approvalId }) => approvalId === after?.approvalId) + 1;
      const page = rows.slice(from, from + limit);
      read.push(page.length);
      return page;
    },
  } as unknown as Store;
  using database = openServerDatabase(":memory:");
  const deliveries = createDeliveries(database);
  const questions = createOpenQuestions(store, deliveries, { now: () => now });
  const look = async (settle: (row: ApprovalRow) => void): Promise<number> => {
    read.length = 0;
    let count = 0;
    for await (const due of questions.due("default")) {
      count += due.length;
      for (const row of due) settle(row);
    }
    return count;
  };
  const fails = new Set(["apr_700"]);
  const settle = (row: ApprovalRow): void => {
    if (fails.has(row.approvalId)) deliveries.failed(row, 1, now + HOUR_MS, false);
    else deliveries.delivered(row);
  };
  expect([await look(settle), read]).toEqual([1201, [500, 500, 201]]);
  // What waits for another try, and what stands behind it, is looked at again; what is done before it is not.
  expect([await look(settle), read]).toEqual([0, [500, 1]]);
  now += HOUR_MS;
  fails.clear();
  expect(await look(settle)).toBe(1);
  await look(settle);
  expect([await look(settle), read]).toEqual([0, [0]]);
});
