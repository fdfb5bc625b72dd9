import type { Wake } from "../../engine/index.ts";
import { toRunKey } from "../../journal/index.ts";
import type { SqliteHandle, SqliteRow } from "./sqlite-handle.ts";

export interface Claim {
  readonly wake: Wake;
  readonly attempts: number;
}

/** Stores a wake; a wake of the same key that still waits stands for both. */
export function insertWake(handle: SqliteHandle, wake: Wake, now: number): void {
  const dueAt = Math.ceil(wake.notBefore ?? now);
  handle.run(
    `INSERT INTO wakes (key, tenant, run_id, why, due_at, attempts, claimed_by, claimed_until, again_at)
     VALUES (?, ?, ?, ?, ?, 0, NULL, 0, NULL)
     ON CONFLICT (key) DO UPDATE SET again_at = excluded.due_at WHERE claimed_by IS NOT NULL`,
    wake.key,
    wake.run.tenant,
    wake.run.runId,
    wake.why,
    dueAt,
  );
}

// A claim that was not prolonged belongs to a worker that has died.
const DUE = `FROM wakes WHERE due_at <= ?1 AND claimed_until <= ?1
  AND NOT EXISTS (SELECT 1 FROM wakes AS other WHERE other.tenant = wakes.tenant AND other.run_id = wakes.run_id
    AND other.claimed_until > ?1)`;

export function hasDueWake(handle: SqliteHandle, now: number): boolean {
  return handle.get(`SELECT 1 AS due ${DUE} LIMIT 1`, now) !== undefined;
}

/** Takes up to `count` due wakes, at most one of each run and none of a run that somebody is working on. */
export function claimWakes(
  handle: SqliteHandle,
  claim: { readonly owner: string; readonly now: number; readonly until: number; readonly count: number },
): readonly Claim[] {
  const claims: Claim[] = [];
  while (claims.length < claim.count) {
    const row = handle.get(`SELECT * ${DUE} ORDER BY due_at, key LIMIT 1`, claim.now);
    if (row === undefined) {
      break;
    }
    handle.run(
      "UPDATE wakes SET claimed_by = ?, claimed_until = ?, attempts = attempts + 1, again_at = NULL WHERE key = ?",
      claim.owner,
      claim.until,
      String(row["key"]),
    );
    claims.push({ wake: toWake(row), attempts: Number(row["attempts"]) + 1 });
  }
  return claims;
}

export function prolongClaim(handle: SqliteHandle, key: string, owner: string, until: number): void {
  handle.run("UPDATE wakes SET claimed_until = ? WHERE key = ? AND claimed_by = ?", until, key, owner);
}

/** A delivered wake is gone, unless the same key was sent again while its handler ran: what it said may be new. */
export function finishWake(handle: SqliteHandle, key: string, owner: string): void {
  handle.run("DELETE FROM wakes WHERE key = ? AND claimed_by = ? AND again_at IS NULL", key, owner);
  handle.run(
    `UPDATE wakes SET due_at = again_at, again_at = NULL, attempts = 0, claimed_by = NULL, claimed_until = 0
     WHERE key = ? AND claimed_by = ?`,
    key,
    owner,
  );
}

/** Gives a wake back, to be delivered again from `dueAt` on. */
export function returnWake(handle: SqliteHandle, key: string, owner: string, dueAt: number): void {
  handle.run(
    `UPDATE wakes SET due_at = ?, again_at = NULL, claimed_by = NULL, claimed_until = 0
     WHERE key = ? AND claimed_by = ?`,
    dueAt,
    key,
    owner,
  );
}

function toWake(row: SqliteRow): Wake {
  return {
    run: toRunKey(row),
    why: String(row["why"]) as Wake["why"],
    key: String(row["key"]),
    notBefore: Number(row["due_at"]),
  };
}
