import { EMPTY_FRONTIER, type Frontier } from "../audit/index.ts";
import type { RunEvent } from "../core/index.ts";
import type { AppendedRecord } from "./append-records.ts";
import type { ProjectionChanges, ProjectionView } from "./project-commit.ts";
import type { BudgetReservation, RunProjection } from "./projections.ts";
import type { ApprovalRow, BudgetRow, JournalLine, RunKey, StoredCheckpoint } from "./store.ts";
import { decodeEvent } from "./stored-entry.ts";

/** All of one run. */
interface MemoryRun {
  readonly lines: JournalLine[];
  /** So many events before those lines were removed. */
  removed: number;
  projection: RunProjection;
  newestAt: number;
  readonly reservations: Map<string, BudgetReservation>;
  pausedUntil: number | undefined;
}

interface MemoryLease {
  owner: string | undefined;
  until: number;
  fence: number;
}

/** All of one tenant: nothing can be found without naming it. */
interface MemoryTenant {
  readonly runs: Map<string, MemoryRun>;
  readonly conversations: Map<string, string[]>;
  readonly approvals: Map<string, ApprovalRow>;
  readonly budgets: Map<string, BudgetRow>;
  readonly leases: Map<string, MemoryLease>;
}

interface MemoryRecord extends AppendedRecord {
  readonly run: RunKey;
}

export interface MemoryTables extends ProjectionView {
  readonly tenants: ReadonlyMap<string, MemoryTenant>;
  readonly blobs: Map<string, string>;
  readonly records: MemoryRecord[];
  readonly checkpoints: StoredCheckpoint[];
  frontier: Frontier;
  tenant(name: string): MemoryTenant;
  memoryRun(key: RunKey): MemoryRun | undefined;
  write(key: RunKey, lines: readonly JournalLine[], newestAt: number, changes: ProjectionChanges): void;
}

/** The tables of the in-memory store, and the view that projections are worked out from. */
export function createMemoryTables(): MemoryTables {
  const tenants = new Map<string, MemoryTenant>();
  const tenant = (name: string): MemoryTenant => {
    let found = tenants.get(name);
    if (found === undefined) {
      found = {
        runs: new Map(),
        conversations: new Map(),
        approvals: new Map(),
        budgets: new Map(),
        leases: new Map(),
      };
      tenants.set(name, found);
    }
    return found;
  };
  const memoryRun = (key: RunKey) => tenants.get(key.tenant)?.runs.get(key.runId);
  return {
    tenants,
    blobs: new Map(),
    records: [],
    checkpoints: [],
    frontier: EMPTY_FRONTIER,
    tenant,
    memoryRun,
    run: (key) => memoryRun(key)?.projection,
    approval: (name, approvalId) => tenants.get(name)?.approvals.get(approvalId),
    budget: (name, budget) => tenants.get(name)?.budgets.get(budget) ?? { tenant: name, budget, used: 0, reserved: 0 },
    reservation: (key, reservationId) => memoryRun(key)?.reservations.get(reservationId),
    newestFirst: (key) => newestFirst(memoryRun(key)?.lines ?? []),
    write: (key, lines, newestAt, changes) => writeChanges(tenant(key.tenant), key, { lines, newestAt, changes }),
  };
}

function* newestFirst(lines: readonly JournalLine[]): Iterable<RunEvent> {
  for (let index = lines.length - 1; index >= 0; index -= 1) {
    const line = lines[index];
    if (line !== undefined) {
      yield decodeEvent(line);
    }
  }
}

interface Written {
  readonly lines: readonly JournalLine[];
  readonly newestAt: number;
  readonly changes: ProjectionChanges;
}

function writeChanges(tenant: MemoryTenant, key: RunKey, { lines, newestAt, changes }: Written): void {
  let run = tenant.runs.get(key.runId);
  if (run === undefined) {
    run = { lines: [], removed: 0, projection: changes.run, newestAt, reservations: new Map(), pausedUntil: undefined };
    tenant.runs.set(key.runId, run);
    const { conversationId } = changes.run.row;
    const conversation = tenant.conversations.get(conversationId);
    if (conversation === undefined) {
      tenant.conversations.set(conversationId, [key.runId]);
    } else {
      conversation.push(key.runId);
    }
  }
  run.lines.push(...lines);
  run.projection = changes.run;
  run.newestAt = newestAt;
  run.pausedUntil = undefined;
  for (const [approvalId, row] of changes.approvals) {
    tenant.approvals.set(approvalId, row);
  }
  for (const [budget, row] of changes.budgets) {
    tenant.budgets.set(budget, row);
  }
  for (const [reservationId, reservation] of changes.reservations) {
    if (reservation === undefined) {
      run.reservations.delete(reservationId);
    } else {
      run.reservations.set(reservationId, reservation);
    }
  }
}
