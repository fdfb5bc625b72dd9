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
import { findDifferences } from "./rebuild-projections.ts";
import type { SqliteHandle } from "./sqlite-handle.ts";

// Between two pages others may write; one long read would keep the write-ahead log from being folded in.
const PAGE_ROWS = 500;

/** The audit log of a SQLite store, and the journal beside it. */
export function createSqliteAudit(handle: SqliteHandle): AuditReader {
  const frontier = (): string =>
    handle.read(() => String(handle.get("SELECT frontier FROM audit_state WHERE id = 1")?.["frontier"]));
  return {
    size: async () => decodeFrontier(frontier()).size,
    root: async () => rootOf(decodeFrontier(frontier())),
    frontier: async () => frontier(),
    entries: async (from, limit) =>
      handle.read(() =>
        handle
          .all("SELECT seq, text, leaf FROM audit WHERE seq >= ? ORDER BY seq LIMIT ?", from, pageRows(limit))
          .map(toAuditEntry),
      ),
    traced: (from = 0) => traced(handle, from),
    lines: () => lines(handle),
    blobs: () => blobs(handle),
    differences: () => findDifferences(handle),
    saveCheckpoint: (note, size) =>
      handle.write((session) => {
        checkCheckpointSize(size, session.tree.frontier.size);
        handle.run("INSERT OR IGNORE INTO checkpoints (size, note) VALUES (?, ?)", size, note);
      }),
    checkpoints: async () =>
      handle.read(() =>
        handle
          .all("SELECT size, note FROM checkpoints ORDER BY size, id")
          .map((row) => ({ size: Number(row["size"]), note: String(row["note"]) })),
      ),
  };
}

function traced(handle: SqliteHandle, from: number): AsyncIterable<TracedRecord> {
  const sql = `SELECT audit.seq AS place, text, leaf, audit.tenant AS tenant, audit.run_id AS run_id, run_seq,
      journal.seq AS seq, at, schema, event
    FROM audit LEFT JOIN journal
      ON journal.tenant = audit.tenant AND journal.run_id = audit.run_id AND journal.seq = audit.run_seq
    WHERE audit.seq >= ? ORDER BY audit.seq LIMIT ${PAGE_ROWS}`;
  return tracedPages(from, (next) => handle.read(() => handle.allLoose(sql, next)).map(toTracedRecord));
}

function lines(handle: SqliteHandle): AsyncIterable<JournalLine> {
  const sql = `SELECT * FROM journal WHERE (tenant, run_id, seq) > (?, ?, ?)
    ORDER BY tenant, run_id, seq LIMIT ${PAGE_ROWS}`;
  return linePages((run, after) =>
    handle.read(() => handle.allLoose(sql, run.tenant, run.runId, after)).map(toJournalLine),
  );
}

async function* blobs(handle: SqliteHandle): AsyncIterable<StoredBlob> {
  const sql = "SELECT rowid AS place, sha256, text FROM blobs WHERE rowid > ? ORDER BY rowid LIMIT 1";
  for (let after = 0; ; ) {
    const [row] = handle.read(() => handle.allLoose(sql, after));
    if (row === undefined) {
      return;
    }
    after = Number(row["place"]);
    yield { sha256: String(row["sha256"]), text: String(row["text"]) };
  }
}
