import type { Clock } from "../../clock.ts";
import type { ApprovalRow, Store } from "../../journal/index.ts";
import type { Deliveries } from "./deliveries.ts";

const PAGE_ROWS = 500;
/** A question of another process may come in behind later ones: stores take clocks that are up to a minute behind. */
const BACKDATED_MS_MAX = 120_000;

/** Questions about which a message is due, oldest first, a page at a time. */
export interface OpenQuestions {
  due(tenant: string): AsyncGenerator<readonly ApprovalRow[]>;
}

/** Remembers up to where nothing is to be sent any more, so that a look does not read all that waits. */
export function createOpenQuestions(store: Store, deliveries: Deliveries, clock: Clock): OpenQuestions {
  const doneUpTo = new Map<string, ApprovalRow>();
  const isDone = (row: ApprovalRow, now: number): boolean =>
    row.requestedAt < now - BACKDATED_MS_MAX && (row.expiresAt <= now || deliveries.isSettled(row));
  /** The rows before the first one about which something is still to be sent. */
  const doneRows = (rows: readonly ApprovalRow[], now: number): readonly ApprovalRow[] => {
    const open = rows.findIndex((row) => !isDone(row, now));
    return open === -1 ? rows : rows.slice(0, open);
  };
  return {
    async *due(tenant) {
      let last = doneUpTo.get(tenant);
      let isDoneSoFar = true;
      let rows: readonly ApprovalRow[];
      do {
        const after = last === undefined ? {} : { after: last };
        rows = await store.approvals({ tenant, status: "pending", limit: PAGE_ROWS, ...after });
        const now = clock.now();
        yield rows.filter((row) => row.expiresAt > now && deliveries.isDue(row, now));
        const done: readonly ApprovalRow[] = isDoneSoFar ? doneRows(rows, now) : [];
        isDoneSoFar = done.length === rows.length;
        last = rows.at(-1);
        const lastDone = done.at(-1);
        if (lastDone !== undefined) doneUpTo.set(tenant, lastDone);
      } while (rows.length === PAGE_ROWS);
    },
  };
}
