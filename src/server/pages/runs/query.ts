import type { RunRow, RunStatus, RunsQuery, Store } from "../../../journal/index.ts";

/** What the list of runs shows. */
export interface RunFilter {
  readonly status?: RunStatus;
  readonly agent?: string;
  /** Termination code, or its beginning up to a colon. */
  readonly reason?: string;
  /** Id of the one for whom the run works. */
  readonly person?: string;
}

/** The last row of the page before. */
export interface RunCursor {
  readonly before: number;
  readonly beforeRunId: string;
}

export interface RunPage {
  readonly rows: readonly RunRow[];
  /** Where the next page starts; absent at the end. */
  readonly next?: RunCursor;
  /** Rows that were looked at. */
  readonly seen: number;
}

const ROWS = 50;
const CHUNK = 500;
/** The store has no index on reason and person: a rare one is looked for in this many runs at a time. */
const SEEN_MAX = 5000;

/** One page of runs, newest first. */
export async function runPage(
  store: Store,
  tenant: string,
  filter: RunFilter,
  cursor: RunCursor | undefined,
): Promise<RunPage> {
  const isScan = filter.reason !== undefined || filter.person !== undefined;
  const base: RunsQuery = {
    tenant,
    limit: isScan ? CHUNK : ROWS + 1,
    ...(filter.status !== undefined && { status: filter.status }),
    ...(filter.agent !== undefined && { agent: filter.agent }),
  };
  const rows: RunRow[] = [];
  let seen = 0;
  for (let place = cursor; ; ) {
    const chunk = await store.runs({ ...base, ...place });
    for (const row of chunk) {
      if (rows.length === ROWS || seen === SEEN_MAX) {
        return { rows, seen, ...(place !== undefined && { next: place }) };
      }
      seen += 1;
      place = { before: row.startedAt, beforeRunId: row.runId };
      rows.push(...(fits(row, filter) ? [row] : []));
    }
    if (chunk.length < (base.limit ?? 0)) {
      return { rows, seen };
    }
  }
}

function fits(row: RunRow, { reason, person }: RunFilter): boolean {
  return (
    (reason === undefined || row.termination === reason || row.termination?.startsWith(`${reason}:`) === true) &&
    (person === undefined || row.principal.id === person)
  );
}
