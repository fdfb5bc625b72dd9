/** Marks the file as a shop world, so that no other SQLite file is ever taken for one ("Shop" in ASCII). */
export const APPLICATION_ID = 0x53686f70;
export const SCHEMA_VERSION = 1;

/**
 * Tables of the shop. Money is a whole number of paise, times are milliseconds since the epoch.
 *
 * `run_id` is null on rows that no agent made. The checks hold even against a bug in the tools.
 */
export const SCHEMA = `
CREATE TABLE customers (
  id TEXT PRIMARY KEY CHECK (id GLOB 'C-[0-9][0-9]'),
  name TEXT NOT NULL,
  email TEXT NOT NULL
) STRICT;

CREATE TABLE orders (
  id TEXT PRIMARY KEY CHECK (id GLOB 'O-[0-9][0-9][0-9][0-9]'),
  customer_id TEXT NOT NULL REFERENCES customers (id),
  item TEXT NOT NULL,
  total_paise INTEGER NOT NULL CHECK (total_paise > 0),
  status TEXT NOT NULL CHECK (status IN ('placed', 'shipped', 'delivered', 'cancelled')),
  placed_at INTEGER NOT NULL,
  note TEXT NOT NULL DEFAULT ''
) STRICT;
CREATE INDEX orders_by_customer ON orders (customer_id);

CREATE TABLE refunds (
  id INTEGER PRIMARY KEY,
  order_id TEXT NOT NULL REFERENCES orders (id),
  amount_paise INTEGER NOT NULL CHECK (amount_paise > 0),
  reason TEXT,
  origin TEXT NOT NULL CHECK (origin IN ('seed', 'agent', 'staff')),
  run_id TEXT,
  at INTEGER NOT NULL
) STRICT;
CREATE INDEX refunds_by_order ON refunds (order_id, amount_paise);

CREATE TABLE status_changes (
  id INTEGER PRIMARY KEY,
  order_id TEXT NOT NULL REFERENCES orders (id),
  from_status TEXT NOT NULL,
  to_status TEXT NOT NULL,
  origin TEXT NOT NULL CHECK (origin IN ('agent', 'staff')),
  run_id TEXT,
  at INTEGER NOT NULL
) STRICT;

CREATE TABLE outbox (
  id INTEGER PRIMARY KEY,
  order_id TEXT NOT NULL REFERENCES orders (id),
  recipient TEXT NOT NULL,
  subject TEXT NOT NULL,
  body TEXT NOT NULL,
  run_id TEXT NOT NULL,
  at INTEGER NOT NULL
) STRICT;

-- The key that the model chose, which counts within one run and tool.
CREATE TABLE idempotency (
  tenant TEXT NOT NULL,
  run_id TEXT NOT NULL,
  tool TEXT NOT NULL,
  key TEXT NOT NULL,
  args_hash TEXT NOT NULL,
  result TEXT NOT NULL,
  PRIMARY KEY (tenant, run_id, tool, key)
) STRICT;

-- The harness's own key of one call: says after a crash whether the call happened.
CREATE TABLE settled_calls (
  call_key TEXT PRIMARY KEY,
  result TEXT NOT NULL
) STRICT;
`;
