import type { RunRow, RunStatus, RunsQuery, Store } from "../../../journal/index.ts";

/** What the list of runs shows. */
export interface RunFilter {
  readonly status?: RunStatus;
  readonly agent?: string;
  /** Only runs with a call of which nobody knows whether it happened. */
  readonly inDoubt?: "true";
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
  const rows: RunRow[] = [];
  let seen = 0;
  let place = cursor;
  for await (const row of runsFrom(store, tenant, filter, cursor)) {
    if (rows.length === ROWS || seen === SEEN_MAX) {
      return { rows, seen, ...(place !== undefined && { next: place }) };
    }
    seen += 1;
    place = cursorAt(row);
    if (fits(row, filter)) {
      rows.push(row);
    }
  }
  return { rows, seen };
}

/** Runs of a state and an agent, which the store can look for by itself. */
async function* runsFrom(
  store: Store,
  tenant: string,
  { status, agent, inDoubt, reason, person }: RunFilter,
  cursor: RunCursor | undefined,
): AsyncGenerator<RunRow> {
  const limit = reason === undefined && person === undefined ? ROWS + 1 : CHUNK;
  const query: RunsQuery = {
    tenant,
    limit,
    ...(status !== undefined && { status }),
    ...(agent !== undefined && { agent }),
    ...(inDoubt !== undefined && { inDoubt: true as const }),
  };
  let last: RunRow | undefined;
  do {
    const chunk = await store.runs({ ...query, ...(last === undefined ? cursor : cursorAt(last)) });
    yield* chunk;
    last = chunk.length < limit ? undefined : chunk.at(-1);
  } while (last !== undefined);
}

function cursorAt({ startedAt, runId }: RunRow): RunCursor {
  return { before: startedAt, beforeRunId: runId };
}

function fits(row: RunRow, { reason, person }: RunFilter): boolean {
  return (
    (reason === undefined || row.termination === reason || row.termination?.startsWith(`${reason}:`) === true) &&
    (person === undefined || row.principal.id === person)
  );
}
