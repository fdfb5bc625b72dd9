import { hash } from "node:crypto";
import { BelayError } from "../../errors.ts";
import {
  type ApprovalRow,
  type BudgetReservation,
  type BudgetRow,
  decodeLine,
  type PreparedEntry,
  type ProjectionView,
  projectCommit,
  type RunKey,
  type RunProjection,
} from "../../journal/index.ts";
import { toJournalLine } from "./rows.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

/** What the journal of one run says about it. */
export interface DerivedRun {
  readonly key: RunKey;
  readonly run: RunProjection;
  readonly approvals: ReadonlyMap<string, ApprovalRow>;
  /** Those that are still open. */
  readonly reservations: ReadonlyMap<string, BudgetReservation>;
  /** This run's part of each budget. */
  readonly budgets: ReadonlyMap<string, BudgetRow>;
  readonly newestAt: number;
}

/**
 * Derives a run from its journal alone; undefined for a run without events.
 *
 * Throws `BELAY_JOURNAL_TOO_NEW`, and `BELAY_STORE_CORRUPT` when the journal cannot be read or is no run's.
 */
export function deriveRun(handle: SqliteHandle, key: RunKey): DerivedRun | undefined {
  const sql = "SELECT * FROM journal WHERE tenant = ? AND run_id = ? ORDER BY seq";
  const entries = handle.all(sql, key.tenant, key.runId).map((row): PreparedEntry => {
    const line = toJournalLine(row);
    const { text } = line;
    return { ...decodeLine(line), text, textHash: hash("sha256", text) };
  });
  if (entries.length === 0) {
    return undefined;
  }
  const { changes } = replay(key, entries);
  const open = [...changes.reservations].filter((pair): pair is [string, BudgetReservation] => pair[1] !== undefined);
  return {
    key,
    run: changes.run,
    approvals: changes.approvals,
    reservations: new Map(open),
    budgets: changes.budgets,
    newestAt: entries.reduce((newest, { at }) => Math.max(newest, at), 0),
  };
}

function replay(key: RunKey, entries: readonly PreparedEntry[]) {
  const empty: ProjectionView = {
    run: () => undefined,
    approval: () => undefined,
    budget: (tenant, budget) => ({ tenant, budget, used: 0, reserved: 0 }),
    reservation: () => undefined,
    newestFirst: () => [],
  };
  try {
    const projected = projectCommit(empty, key, 0, entries, true);
    if (projected.status === "projected") {
      return projected;
    }
  } catch (cause) {
    throw new BelayError(
      "BELAY_STORE_CORRUPT",
      `The journal of run ${key.runId} holds events that no run can have, so nothing can be derived from it. ` +
        "See belay audit verify, and restore the store from a backup.",
      { cause },
    );
  }
  throw new Error("a replay refuses no reservation");
}
