import { checkRunKey, type Lease, type Pause, type RunKey } from "../../journal/index.ts";
import type { Database } from "./database.ts";
import { writeSingle } from "./write-once.ts";

export interface LeaseRequest {
  readonly owner: string;
  readonly ttlMs: number;
  readonly now: number;
}

/** Takes or prolongs a lease. A row is never deleted, so that fences only grow. */
export async function acquireLease(database: Database, key: RunKey, request: LeaseRequest): Promise<Lease> {
  const { tenant, runId } = checkRunKey(key);
  const { owner, ttlMs, now } = request;
  const table = `${database.settings.schema}.leases`;
  const isLive = "leases.owner IS NOT NULL AND leases.until > $4";
  const take = `INSERT INTO ${table} (tenant, run_id, owner, until, fence) VALUES ($1, $2, $3, $5, 1)
    ON CONFLICT (tenant, run_id) DO UPDATE SET owner = excluded.owner, until = excluded.until,
      fence = CASE WHEN ${isLive} THEN leases.fence ELSE leases.fence + 1 END
      WHERE leases.owner = excluded.owner OR NOT (${isLive})
    RETURNING fence`;
  const look = `SELECT until FROM ${table} WHERE tenant = $1 AND run_id = $2`;
  // Whole milliseconds on both sides, so that the comparison is the one of every other store.
  const [taken] = await writeSingle(database, take, tenant, runId, owner, Math.floor(now), Math.ceil(now + ttlMs));
  if (taken !== undefined) {
    return { status: "held", fence: Number(taken["fence"]) };
  }
  const [held] = await database.read((session) => session.all(look, tenant, runId));
  return { status: "busy", until: Number(held?.["until"] ?? now) };
}

/** Gives a lease back, and keeps the pause when the run still is where the holder left it. */
export async function releaseLease(
  database: Database,
  { tenant, runId }: RunKey,
  owner: string,
  pause: Pause | undefined,
): Promise<void> {
  const { schema } = database.settings;
  const release = `UPDATE ${schema}.leases SET owner = NULL WHERE tenant = $1 AND run_id = $2 AND owner = $3`;
  if (pause === undefined) {
    await writeSingle(database, release, tenant, runId, owner);
    return;
  }
  const releaseAndPause = `WITH released AS (${release} RETURNING fence)
    UPDATE ${schema}.runs SET unfinished = 2, paused_until = $4
    WHERE tenant = $1 AND run_id = $2 AND head = $5 AND unfinished <> 0 AND EXISTS (SELECT 1 FROM released)`;
  const until = Math.min(Math.ceil(pause.until), Number.MAX_SAFE_INTEGER);
  await writeSingle(database, releaseAndPause, tenant, runId, owner, until, pause.head);
}
