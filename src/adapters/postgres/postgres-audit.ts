import { decodeFrontier, rootOf } from "../../audit/index.ts";
import {
  type AuditReader,
  checkCheckpointSize,
  type JournalLine,
  linePages,
  pageRows,
  type StoredBlob,
  type TracedRecord,
  toAuditEntry,
  toJournalLine,
  toTracedRecord,
  tracedPages,
} from "../../journal/index.ts";
import type { Database } from "./database.ts";
import { findDifferences } from "./find-differences.ts";
import type { Sequencer } from "./sequencer.ts";
import { columnsOf, JOURNAL } from "./tables.ts";
import { indexKey } from "./text-code.ts";
import { writeOnce } from "./write-once.ts";

const PAGE_ROWS = 500;

/** The audit log of a PostgreSQL store, and the journal beside it; whatever was committed before a call is in it. */
export function createPostgresAudit(database: Database, sequencer: Sequencer): AuditReader {
  const { schema } = database.settings;
  const frontier = async (): Promise<string> => {
    database.open();
    await sequencer.flush();
    const sql = `SELECT frontier FROM ${schema}.audit_state WHERE id = 1`;
    const [row] = await database.read((session) => session.all(sql));
    return String(row?.["frontier"]);
  };
  return {
    size: async () => decodeFrontier(await frontier()).size,
    root: async () => rootOf(decodeFrontier(await frontier())),
    frontier,
    entries: async (from, limit) => {
      database.open();
      await sequencer.flush();
      const sql = `SELECT o.seq, r.text, r.leaf FROM ${schema}.audit_order o JOIN ${schema}.audit_records r ON r.id = o.id
        WHERE o.seq >= $1 ORDER BY o.seq LIMIT ${pageRows(limit)}`;
      return (await database.read((session) => session.all(sql, Math.max(0, from)))).map(toAuditEntry);
    },
    traced: (from = 0) => traced(database, sequencer, from),
    lines: () => lines(database),
    blobs: () => blobs(database),
    differences: () => findDifferences(database),
    saveCheckpoint: async (note, size) => {
      checkCheckpointSize(size, decodeFrontier(await frontier()).size);
      const sql = `INSERT INTO ${schema}.checkpoints (size, note, note_key) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`;
      await writeOnce(database, (session) => session.all(sql, size, note, indexKey(note)));
    },
    checkpoints: async () => {
      const sql = `SELECT size, note FROM ${schema}.checkpoints ORDER BY size, id`;
      const rows = await database.read((session) => session.all(sql));
      return rows.map((row) => ({ size: Number(row["size"]), note: String(row["note"]) }));
    },
  };
}

async function* traced(database: Database, sequencer: Sequencer, from: number): AsyncIterable<TracedRecord> {
  const { schema } = database.settings;
  database.open();
  await sequencer.flush();
  const sql = `SELECT o.seq AS place, r.text, r.leaf, r.tenant, r.run_id, r.run_seq,
      j.seq, j.at, j.schema, j.event
    FROM ${schema}.audit_order o JOIN ${schema}.audit_records r ON r.id = o.id
    LEFT JOIN ${schema}.journal j ON j.tenant = r.tenant AND j.run_id = r.run_id AND j.seq = r.run_seq
    WHERE o.seq >= $1 ORDER BY o.seq LIMIT ${PAGE_ROWS}`;
  yield* tracedPages(Math.max(0, from), async (next) =>
    (await database.read((session) => session.allLoose(sql, next))).map(toTracedRecord),
  );
}

function lines(database: Database): AsyncIterable<JournalLine> {
  const sql = `SELECT ${columnsOf(JOURNAL)} FROM ${database.settings.schema}.journal
    WHERE (tenant, run_id, seq) > ($1, $2, $3) ORDER BY tenant, run_id, seq LIMIT ${PAGE_ROWS}`;
  return linePages(async ({ tenant, runId }, after) =>
    (await database.read((session) => session.allLoose(sql, tenant, runId, after))).map(toJournalLine),
  );
}

async function* blobs(database: Database): AsyncIterable<StoredBlob> {
  const sql = `SELECT sha256, text FROM ${database.settings.schema}.blobs WHERE sha256 > $1 ORDER BY sha256 LIMIT 1`;
  for (let after = ""; ; ) {
    const [row] = await database.read((session) => session.all(sql, after));
    if (row === undefined) {
      return;
    }
    after = String(row["sha256"]);
    yield { sha256: after, text: String(row["text"]) };
  }
}
