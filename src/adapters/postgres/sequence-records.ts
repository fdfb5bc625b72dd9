import { appendLeaf, encodeFrontier, parseFrontier } from "../../audit/index.ts";
import type { Outcome, Session, Statement } from "./session.ts";

/** Records that get their places in one transaction. */
const BATCH_RECORDS = 2000;

/** Whoever holds this line numbers records; everybody else waits. */
export function lockTree(schema: string): Statement {
  return { sql: `SELECT frontier FROM ${schema}.audit_state WHERE id = 1 FOR UPDATE` };
}

/**
 * Gives a batch of records their places in the tree, in the transaction that holds the lock; returns how many.
 *
 * Records of one run come in the order of its events: a commit to a run begins after the one before it has ended, so
 * its ids are larger, and whoever sees it sees the one before. Which run comes first is of no consequence, and a record
 * that becomes visible late is simply found by a later batch.
 */
export async function sequenceBatch(session: Session, schema: string, frontierText: unknown): Promise<Outcome<number>> {
  let frontier = parseFrontier(frontierText);
  if (frontier === undefined) {
    // Somebody has edited it. Nothing can go on from there, and the verifier says so.
    return { value: 0, keep: false };
  }
  const pending = await session.all(
    `SELECT r.id, r.leaf FROM ${schema}.audit_pending p JOIN ${schema}.audit_records r ON r.id = p.id
      ORDER BY p.id LIMIT ${BATCH_RECORDS}`,
  );
  if (pending.length === 0) {
    return { value: 0, keep: false };
  }
  const ids = pending.map((row) => Number(row["id"]));
  const places: number[] = [];
  for (const row of pending) {
    places.push(frontier.size);
    frontier = appendLeaf(frontier, String(row["leaf"]));
  }
  await session.each([
    {
      sql: `INSERT INTO ${schema}.audit_order (seq, id) SELECT * FROM unnest($1::bigint[], $2::bigint[])`,
      values: [places, ids],
    },
    { sql: `DELETE FROM ${schema}.audit_pending WHERE id = ANY($1::bigint[])`, values: [ids] },
    { sql: `UPDATE ${schema}.audit_state SET frontier = $1 WHERE id = 1`, values: [encodeFrontier(frontier)] },
  ]);
  return { value: pending.length, keep: true };
}
