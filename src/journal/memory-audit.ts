import { encodeFrontier, rootOf } from "../audit/index.ts";
import { BelayError } from "../errors.ts";
import { pageRows } from "./memory-queries.ts";
import type { MemoryTables } from "./memory-tables.ts";
import type { AuditReader, JournalLine, StoredBlob, TracedRecord } from "./store.ts";

/** The audit log of the in-memory store. `open` throws once the store is closed. */
export function createMemoryAudit(tables: MemoryTables, open: () => void): AuditReader {
  return {
    size: async () => {
      open();
      return tables.frontier.size;
    },
    root: async () => {
      open();
      return rootOf(tables.frontier);
    },
    frontier: async () => {
      open();
      return encodeFrontier(tables.frontier);
    },
    entries: async (from, limit) => {
      open();
      const page = tables.records.slice(Math.max(0, from), Math.max(0, from) + pageRows(limit));
      return page.map(({ seq, text, leaf }) => ({ seq, text, leaf }));
    },
    traced: (from = 0) => traced(tables, from, open),
    lines: () => lines(tables, open),
    blobs: () => blobs(tables, open),
    differences: async () => {
      open();
      // Rows of this process, written with their events and reachable by nobody else.
      return [];
    },
    saveCheckpoint: async (note, size) => {
      open();
      checkCheckpointSize(size, tables.frontier.size);
      if (!tables.checkpoints.some((kept) => kept.note === note)) {
        tables.checkpoints.push({ size, note });
      }
    },
    checkpoints: async () => {
      open();
      return tables.checkpoints.map(({ size, note }) => ({ size, note })).sort((one, other) => one.size - other.size);
    },
  };
}

/** Throws `BELAY_AUDIT_INVALID` for a checkpoint of more records than there are. */
export function checkCheckpointSize(size: number, stored: number): void {
  if (!Number.isSafeInteger(size) || size < 0 || size > stored) {
    throw new BelayError(
      "BELAY_AUDIT_INVALID",
      `A checkpoint of ${String(size)} records cannot be kept: the log has ${stored}. ` +
        "Sign what this store's own audit log says.",
    );
  }
}

async function* traced(tables: MemoryTables, from: number, open: () => void): AsyncIterable<TracedRecord> {
  for (let place = Math.max(0, from); ; place += 1) {
    open();
    const record = tables.records[place];
    if (record === undefined) {
      return;
    }
    const { seq, text, leaf, run, runSeq } = record;
    const stored = tables.memoryRun(run);
    const line = stored?.lines[runSeq - 1 - stored.removed];
    yield { seq, text, leaf, run: { ...run }, runSeq, ...(line === undefined ? {} : { line: copyLine(line) }) };
  }
}

async function* lines(tables: MemoryTables, open: () => void): AsyncIterable<JournalLine> {
  for (const tenant of tables.tenants.values()) {
    for (const run of tenant.runs.values()) {
      for (const line of run.lines) {
        open();
        yield line;
      }
    }
  }
}

async function* blobs(tables: MemoryTables, open: () => void): AsyncIterable<StoredBlob> {
  for (const [sha256, text] of tables.blobs) {
    open();
    yield { sha256, text };
  }
}

function copyLine(line: JournalLine): JournalLine {
  return { ...line, run: { ...line.run } };
}
