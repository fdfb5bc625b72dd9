import type { ApprovalRow } from "../../journal/index.ts";
import type { Vote } from "../operations/operation.ts";
import type { ServerDatabase } from "./server-database.ts";

/** The yes of each person to questions that need several. */
export interface Votes {
  /** Keeps a person's first yes to these arguments. */
  add(approval: ApprovalRow, vote: Vote): void;
  of(approval: ApprovalRow): readonly Vote[];
  /** Questions of a tenant that somebody has said yes to, open or not. */
  questions(tenant: string): readonly string[];
}

export function createVotes(database: ServerDatabase): Votes {
  return {
    add({ tenant, approvalId, argsHash }, { personId, name, reason, at }) {
      database.run(
        `INSERT OR IGNORE INTO votes (tenant, approval_id, person_id, name, reason, args_hash, at)
         VALUES (?, ?, ?, ?, ?, ?, ?)`,
        tenant,
        approvalId,
        personId,
        name,
        reason ?? null,
        argsHash,
        at,
      );
    },
    of({ tenant, approvalId, argsHash }) {
      const sql = "SELECT * FROM votes WHERE tenant = ? AND approval_id = ? AND args_hash = ? ORDER BY at, person_id";
      return database.all(sql, tenant, approvalId, argsHash).map((row) => ({
        personId: String(row["person_id"]),
        name: String(row["name"]),
        ...(row["reason"] === null ? {} : { reason: String(row["reason"]) }),
        at: Number(row["at"]),
      }));
    },
    questions: (tenant) =>
      database
        .all("SELECT DISTINCT approval_id FROM votes WHERE tenant = ?", tenant)
        .map((row) => String(row["approval_id"])),
  };
}
