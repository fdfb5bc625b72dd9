import type { ApprovalRow } from "../../journal/index.ts";
import type { ServerDatabase } from "../people/server-database.ts";

/** What became of the messages about each question. */
export interface Deliveries {
  isDue(row: ApprovalRow, now: number): boolean;
  /** Delivered, or given up. */
  isSettled(row: ApprovalRow): boolean;
  attempts(row: ApprovalRow): number;
  delivered(row: ApprovalRow): void;
  failed(row: ApprovalRow, attempts: number, dueAt: number, isGivenUp: boolean): void;
}

const WRITE = `INSERT INTO deliveries (tenant, approval_id, status, attempts, due_at) VALUES (?, ?, ?, ?, ?)
  ON CONFLICT DO UPDATE SET status = excluded.status, attempts = excluded.attempts, due_at = excluded.due_at`;

export function createDeliveries(database: ServerDatabase): Deliveries {
  const find = ({ tenant, approvalId }: ApprovalRow) =>
    database.get("SELECT * FROM deliveries WHERE tenant = ? AND approval_id = ?", tenant, approvalId);
  return {
    isDue(row, now) {
      const known = find(row);
      return known === undefined || (known["status"] === "waiting" && Number(known["due_at"]) <= now);
    },
    isSettled(row) {
      const status = find(row)?.["status"];
      return status === "delivered" || status === "given_up";
    },
    attempts: (row) => Number(find(row)?.["attempts"] ?? 0),
    delivered(row) {
      database.run(WRITE, row.tenant, row.approvalId, "delivered", this.attempts(row) + 1, 0);
    },
    failed(row, attempts, dueAt, isGivenUp) {
      database.run(WRITE, row.tenant, row.approvalId, isGivenUp ? "given_up" : "waiting", attempts, dueAt);
    },
  };
}
