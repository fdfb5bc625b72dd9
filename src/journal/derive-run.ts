import { hash } from "node:crypto";
import { BelayError } from "../errors.ts";
import type { PreparedEntry } from "./prepare-commit.ts";
import { type ProjectionView, projectCommit } from "./project-commit.ts";
import type { BudgetReservation, RunProjection } from "./projections.ts";
import type { ApprovalRow, BudgetRow, JournalLine, RunKey } from "./store.ts";
import { decodeLine } from "./stored-entry.ts";

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
 * Derives a run from all lines of its journal, oldest first, and from nothing else; undefined for a run without any.
 *
 * Throws `BELAY_JOURNAL_TOO_NEW`, and `BELAY_STORE_CORRUPT` when the journal cannot be read or is no run's.
 */
export function deriveRun(key: RunKey, lines: readonly JournalLine[]): DerivedRun | undefined {
  if (lines.length === 0) {
    return undefined;
  }
  const entries = lines.map((line): PreparedEntry => {
    const { text } = line;
    return { ...decodeLine(line), text, textHash: hash("sha256", text) };
  });
  const { changes } = replay(key, lines[0]?.seq ?? 1, entries);
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

function replay(key: RunKey, firstSeq: number, entries: readonly PreparedEntry[]) {
  const empty: ProjectionView = {
    run: () => undefined,
    approval: () => undefined,
    budget: (tenant, budget) => ({ tenant, budget, used: 0, reserved: 0 }),
    reservation: () => undefined,
    newestFirst: () => [],
  };
  try {
    const isRetired = entries[0]?.event.type === "run.retired";
    const removed = isRetired ? firstSeq - 1 : 0;
    const projected = projectCommit(empty, key, removed, entries, true);
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
