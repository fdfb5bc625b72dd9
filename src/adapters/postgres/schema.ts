import { EMPTY_FRONTIER, encodeFrontier } from "../../audit/index.ts";

/** Number of the tables below, in the table `belay_format`. */
export const FORMAT = 1;

/** A schema name that needs no thought: it is part of every statement. */
export const SCHEMA_NAME: RegExp = /^[a-z_][a-z0-9_]{0,62}$/;

/**
 * The tables. `journal` is the truth and the `audit_…` tables its witness; `runs`, `approvals`, `budgets` and
 * `reservations` are derived and can be rebuilt; the rest is working state.
 *
 * All text is compared byte by byte (`COLLATE "C"`), whatever the database's own collation. A `…_key` stands for an id
 * of any length (`indexKey`). A commit adds to `audit_records` and, with the same ids, to `audit_pending`; the sequencer
 * moves ids from there to `audit_order`, where they have their places in the tree. `runs.unfinished` is 0 for a run
 * that is over, 1 for one that somebody must go on with, 2 for one with which nothing can be done before `paused_until`.
 */
export function createTables(schema: string): string {
  const key = 'text COLLATE "C" NOT NULL';
  return `
CREATE TABLE ${schema}.journal (
  tenant ${key}, run_id ${key}, seq bigint NOT NULL,
  at bigint NOT NULL, schema bigint NOT NULL, event text NOT NULL,
  PRIMARY KEY (tenant, run_id, seq)
);

CREATE TABLE ${schema}.runs (
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  tenant ${key}, run_id ${key}, agent ${key},
  conversation_id text NOT NULL, conversation_key ${key},
  principal text NOT NULL, input text NOT NULL,
  status text NOT NULL CHECK (status IN ('running', 'waiting', 'done', 'failed')),
  termination text, answer text, head bigint NOT NULL,
  started_at bigint NOT NULL, updated_at bigint NOT NULL,
  next_run_id text, pending text NOT NULL, in_doubt text NOT NULL, journal_hash text NOT NULL,
  unfinished smallint NOT NULL, paused_until bigint,
  PRIMARY KEY (tenant, run_id)
) WITH (fillfactor = 80);
CREATE INDEX runs_by_start ON ${schema}.runs (tenant, started_at, ordinal);
CREATE INDEX runs_by_conversation ON ${schema}.runs (tenant, conversation_key, started_at, ordinal);
CREATE INDEX runs_unfinished ON ${schema}.runs (tenant, run_id) WHERE unfinished = 1;
CREATE INDEX runs_paused ON ${schema}.runs (paused_until) WHERE unfinished = 2;
CREATE INDEX runs_in_doubt ON ${schema}.runs (tenant, started_at, ordinal) WHERE in_doubt <> '[]';

CREATE TABLE ${schema}.approvals (
  ordinal bigint GENERATED ALWAYS AS IDENTITY,
  tenant ${key}, approval_key ${key}, approval_id text NOT NULL,
  run_id ${key}, call_id text NOT NULL, agent text NOT NULL, tool text NOT NULL,
  args text NOT NULL, args_hash text NOT NULL, code text NOT NULL, reason text NOT NULL, rule_id text NOT NULL,
  requester text NOT NULL,
  status text NOT NULL CHECK (status IN ('pending', 'approved', 'rejected', 'expired', 'void')),
  requested_at bigint NOT NULL, expires_at bigint NOT NULL,
  resolved_at bigint, resolved_by text, note text,
  PRIMARY KEY (tenant, approval_key)
);
CREATE INDEX approvals_by_status ON ${schema}.approvals (tenant, status, requested_at, ordinal);
CREATE INDEX approvals_by_run ON ${schema}.approvals (tenant, run_id, requested_at, ordinal);

CREATE TABLE ${schema}.budgets (
  tenant ${key}, budget_key ${key}, budget text NOT NULL,
  used bigint NOT NULL, reserved bigint NOT NULL,
  PRIMARY KEY (tenant, budget_key)
) WITH (fillfactor = 50);

CREATE TABLE ${schema}.reservations (
  tenant ${key}, run_id ${key}, reservation_key ${key}, reservation_id text NOT NULL,
  budget text NOT NULL, amount bigint NOT NULL,
  PRIMARY KEY (tenant, run_id, reservation_key)
);

CREATE TABLE ${schema}.leases (
  tenant ${key}, run_id ${key}, owner text, until bigint NOT NULL, fence bigint NOT NULL,
  PRIMARY KEY (tenant, run_id)
) WITH (fillfactor = 50);

CREATE TABLE ${schema}.blobs (sha256 ${key} PRIMARY KEY, text text NOT NULL);

CREATE TABLE ${schema}.audit_records (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  tenant ${key}, run_id ${key}, run_seq bigint NOT NULL,
  text text NOT NULL, leaf text NOT NULL
);

-- Rows live for a moment only: what they leave behind must not pile up.
CREATE TABLE ${schema}.audit_pending (id bigint PRIMARY KEY)
  WITH (autovacuum_vacuum_scale_factor = 0, autovacuum_vacuum_threshold = 1000);

CREATE TABLE ${schema}.audit_order (seq bigint PRIMARY KEY, id bigint NOT NULL UNIQUE);

CREATE TABLE ${schema}.audit_state (id smallint PRIMARY KEY CHECK (id = 1), frontier text NOT NULL) WITH (fillfactor = 10);
INSERT INTO ${schema}.audit_state VALUES (1, '${encodeFrontier(EMPTY_FRONTIER)}');

CREATE TABLE ${schema}.checkpoints (
  id bigint GENERATED ALWAYS AS IDENTITY PRIMARY KEY,
  size bigint NOT NULL, note text NOT NULL, note_key ${key} UNIQUE
);

CREATE TABLE ${schema}.belay_format (id smallint PRIMARY KEY CHECK (id = 1), format bigint NOT NULL);
INSERT INTO ${schema}.belay_format VALUES (1, ${FORMAT});
`;
}
