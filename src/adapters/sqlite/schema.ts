import { EMPTY_FRONTIER, encodeFrontier } from "../../audit/index.ts";

/** "Bely" in ASCII: tells `file` and us whose database this is. */
export const APPLICATION_ID = 0x42656c79;

/** `PRAGMA user_version` of the tables below. */
export const SCHEMA_VERSION = 3;

const PAUSED_INDEX = "CREATE INDEX runs_paused ON runs (paused_until, tenant, run_id) WHERE unfinished = 2;";

const IN_DOUBT_INDEX = "CREATE INDEX runs_in_doubt ON runs (tenant, started_at, ordinal) WHERE in_doubt <> '[]';";

/**
 * Brings a file of format 2 up: a column that is derived from the journal, which holds no reconciliation yet. Nothing
 * of journal or audit log is touched.
 */
export const FROM_FORMAT_2: string = `
ALTER TABLE runs ADD COLUMN in_doubt TEXT NOT NULL DEFAULT '[]';
UPDATE runs SET in_doubt = (
  SELECT json_group_array(call_id) FROM (
    SELECT json_extract(event, '$.callId') AS call_id FROM journal
    WHERE journal.tenant = runs.tenant AND journal.run_id = runs.run_id
      AND json_extract(event, '$.type') = 'call.settled' AND json_extract(event, '$.outcome.status') = 'unknown'
    ORDER BY seq))
  WHERE status <> 'done';
${IN_DOUBT_INDEX}
ALTER TABLE runs ADD COLUMN paused_until INTEGER;
${PAUSED_INDEX}
PRAGMA user_version = ${SCHEMA_VERSION};
`;

/**
 * The tables. `journal` is the truth and `audit` its witness; `runs`, `approvals`, `budgets` and `reservations` are
 * derived and can be rebuilt; the rest is working state. `runs.unfinished` is 0 for a run that is over,
 * 1 for one that somebody must go on with, and 2 for one with which nothing can be done before `paused_until`. Format 1 had no `runs.journal_hash`,
 * format 2 neither `runs.in_doubt` nor pauses.
 */
export const SCHEMA: string = `
CREATE TABLE journal (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  seq INTEGER NOT NULL,
  at INTEGER NOT NULL,
  schema INTEGER NOT NULL,
  event TEXT NOT NULL,
  PRIMARY KEY (tenant, run_id, seq)
) STRICT, WITHOUT ROWID;

CREATE TABLE runs (
  ordinal INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  conversation_id TEXT NOT NULL,
  principal TEXT NOT NULL,
  input TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('running', 'waiting', 'done', 'failed')),
  termination TEXT,
  answer TEXT,
  head INTEGER NOT NULL,
  started_at INTEGER NOT NULL,
  updated_at INTEGER NOT NULL,
  next_run_id TEXT,
  pending TEXT NOT NULL,
  journal_hash TEXT NOT NULL,
  unfinished INTEGER NOT NULL,
  in_doubt TEXT NOT NULL DEFAULT '[]',
  paused_until INTEGER,
  UNIQUE (tenant, run_id)
) STRICT;
CREATE INDEX runs_by_start ON runs (tenant, started_at, ordinal);
CREATE INDEX runs_by_conversation ON runs (tenant, conversation_id, started_at, ordinal);
CREATE INDEX runs_unfinished ON runs (tenant, run_id) WHERE unfinished = 1;
${PAUSED_INDEX}
${IN_DOUBT_INDEX}

CREATE TABLE approvals (
  ordinal INTEGER PRIMARY KEY,
  tenant TEXT NOT NULL,
  approval_id TEXT NOT NULL,
  run_id TEXT NOT NULL,
  call_id TEXT NOT NULL,
  agent TEXT NOT NULL,
  tool TEXT NOT NULL,
  args TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  code TEXT NOT NULL,
  reason TEXT NOT NULL,
  rule_id TEXT NOT NULL,
  requester TEXT NOT NULL,
  status TEXT NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'void')),
  requested_at INTEGER NOT NULL,
  expires_at INTEGER NOT NULL,
  resolved_at INTEGER,
  resolved_by TEXT,
  note TEXT,
  UNIQUE (tenant, approval_id)
) STRICT;
CREATE INDEX approvals_by_status ON approvals (tenant, status, requested_at, ordinal);
CREATE INDEX approvals_by_run ON approvals (tenant, run_id, requested_at, ordinal);

CREATE TABLE budgets (
  tenant TEXT NOT NULL,
  budget TEXT NOT NULL,
  used INTEGER NOT NULL,
  reserved INTEGER NOT NULL,
  PRIMARY KEY (tenant, budget)
) STRICT, WITHOUT ROWID;

CREATE TABLE reservations (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  reservation_id TEXT NOT NULL,
  budget TEXT NOT NULL,
  amount INTEGER NOT NULL,
  PRIMARY KEY (tenant, run_id, reservation_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE leases (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  owner TEXT,
  until INTEGER NOT NULL,
  fence INTEGER NOT NULL,
  PRIMARY KEY (tenant, run_id)
) STRICT, WITHOUT ROWID;

CREATE TABLE blobs (
  sha256 TEXT NOT NULL UNIQUE,
  text TEXT NOT NULL
) STRICT;

CREATE TABLE audit (
  seq INTEGER PRIMARY KEY,
  text TEXT NOT NULL,
  leaf TEXT NOT NULL,
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  run_seq INTEGER NOT NULL
) STRICT;

CREATE TABLE audit_state (
  id INTEGER PRIMARY KEY CHECK (id = 1),
  size INTEGER NOT NULL,
  frontier TEXT NOT NULL,
  newest_at INTEGER NOT NULL
) STRICT;
INSERT INTO audit_state VALUES (1, 0, '${encodeFrontier(EMPTY_FRONTIER)}', 0);

CREATE TABLE checkpoints (
  id INTEGER PRIMARY KEY,
  size INTEGER NOT NULL,
  note TEXT NOT NULL UNIQUE
) STRICT;

CREATE TABLE wakes (
  key TEXT PRIMARY KEY,
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  why TEXT NOT NULL,
  due_at INTEGER NOT NULL,
  attempts INTEGER NOT NULL,
  claimed_by TEXT,
  claimed_until INTEGER NOT NULL,
  again_at INTEGER
) STRICT, WITHOUT ROWID;
CREATE INDEX wakes_due ON wakes (due_at);
CREATE INDEX wakes_by_run ON wakes (tenant, run_id);

PRAGMA application_id = ${APPLICATION_ID};
PRAGMA user_version = ${SCHEMA_VERSION};
`;
