import { blobHashesIn, type RunKey, rowName } from "../../journal/index.ts";
import type { Database } from "./database.ts";
import type { Session } from "./session.ts";
import { writeOnce } from "./write-once.ts";

const PAGE_LINES = 5000;

interface Dropped {
  readonly blobs: number;
  readonly bytes: number;
}

/**
 * Removes the blobs that no event means, beside others that write; with `without`, only counts.
 *
 * A commit that brings a blob keeps its line locked until it is over (`writeBatch`). So what nobody means once its line
 * is locked here, nobody comes to mean before it is gone, and whoever brings it later finds it gone and writes it again.
 */
export async function dropBlobs(database: Database, without: readonly RunKey[] | undefined): Promise<Dropped> {
  const left = new Set(without?.map(({ tenant, runId }) => rowName(tenant, runId)));
  const { schema } = database.settings;
  // Without a lock first: most blobs are meant, and nobody shall wait for a look at the whole journal.
  const found = await database.read((session) => unmeant(session, schema, left, undefined));
  if (without !== undefined || found.size === 0) {
    return sumOf(found);
  }
  const candidates = [...found.keys()];
  return writeOnce(database, async (session) => {
    const lock = `SELECT sha256 FROM ${schema}.blobs WHERE sha256 = ANY($1::text[]) ORDER BY sha256 FOR UPDATE`;
    await session.all(lock, candidates);
    const dropped = await unmeant(session, schema, left, candidates);
    await session.all(`DELETE FROM ${schema}.blobs WHERE sha256 = ANY($1::text[])`, [...dropped.keys()]);
    return sumOf(dropped);
  });
}

/** Sizes of the blobs that no event means but those of `left`; of `among` alone, when it is given. */
async function unmeant(
  session: Session,
  schema: string,
  left: ReadonlySet<string>,
  among: readonly string[] | undefined,
): Promise<ReadonlyMap<string, number>> {
  // Blobs first: what is written after them is meant by events that are read after them.
  const sizes = `SELECT sha256, octet_length(text) AS bytes FROM ${schema}.blobs
    WHERE $1::text[] IS NULL OR sha256 = ANY($1::text[])`;
  const rows = await session.all(sizes, among ?? null);
  const unmeantSizes = new Map(rows.map((row) => [String(row["sha256"]), Number(row["bytes"])]));
  if (unmeantSizes.size === 0) {
    return unmeantSizes;
  }
  const sql = `SELECT tenant, run_id, seq, CASE WHEN strpos(event, '"sha256"') > 0 THEN event END AS event
    FROM ${schema}.journal WHERE (tenant, run_id, seq) > ($1, $2, $3) ORDER BY tenant, run_id, seq LIMIT ${PAGE_LINES}`;
  for (let after: readonly [string, string, number] = ["", "", 0]; ; ) {
    const page = await session.all(sql, ...after);
    for (const row of page) {
      const isLeft = left.has(rowName(String(row["tenant"]), String(row["run_id"])));
      for (const sha256 of isLeft || row["event"] === null ? [] : blobHashesIn(String(row["event"]))) {
        unmeantSizes.delete(sha256);
      }
    }
    const last = page.at(-1);
    if (last === undefined) {
      return unmeantSizes;
    }
    after = [String(last["tenant"]), String(last["run_id"]), Number(last["seq"])];
  }
}

function sumOf(blobs: ReadonlyMap<string, number>): Dropped {
  return { blobs: blobs.size, bytes: [...blobs.values()].reduce((sum, bytes) => sum + bytes, 0) };
}
