import { checkRunKey, type Lease, type Pause, type RunKey } from "../../journal/index.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

export interface LeaseRequest {
  readonly owner: string;
  readonly ttlMs: number;
  readonly now: number;
}

/** Takes or prolongs a lease. A row is never deleted, so that fences only grow. */
export function acquireLease(handle: SqliteHandle, key: RunKey, { owner, ttlMs, now }: LeaseRequest): Lease {
  const { tenant, runId } = checkRunKey(key);
  const lease = handle.get("SELECT owner, until, fence FROM leases WHERE tenant = ? AND run_id = ?", tenant, runId);
  const until = Number(lease?.["until"] ?? 0);
  const holder = lease?.["owner"] ?? undefined;
  const isLive = holder !== undefined && until > now;
  if (isLive && holder !== owner) {
    return { status: "busy", until };
  }
  const before = Number(lease?.["fence"] ?? 0);
  const fence = isLive ? before : before + 1;
  handle.run(
    "INSERT OR REPLACE INTO leases (tenant, run_id, owner, until, fence) VALUES (?, ?, ?, ?, ?)",
    tenant,
    runId,
    owner,
    Math.ceil(now + ttlMs),
    fence,
  );
  return { status: "held", fence };
}

export function releaseLease(
  handle: SqliteHandle,
  { tenant, runId }: RunKey,
  owner: string,
  pause: Pause | undefined,
): void {
  const sql = "UPDATE leases SET owner = NULL WHERE tenant = ? AND run_id = ? AND owner = ?";
  const isHeld = handle.run(sql, tenant, runId, owner) > 0;
  if (isHeld && pause !== undefined) {
    handle.run(
      "UPDATE runs SET unfinished = 2, paused_until = ? WHERE tenant = ? AND run_id = ? AND head = ? AND unfinished <> 0",
      Math.min(Math.ceil(pause.until), Number.MAX_SAFE_INTEGER),
      tenant,
      runId,
      pause.head,
    );
  }
}
