type ColumnType = "text" | "bigint" | "smallint";

/** A table's columns that we write, and their types. */
export interface Table {
  readonly name: string;
  readonly columns: Readonly<Record<string, ColumnType>>;
}

export const JOURNAL: Table = {
  name: "journal",
  columns: { tenant: "text", run_id: "text", seq: "bigint", at: "bigint", schema: "bigint", event: "text" },
};

/** What the events of a run change; the rest of its line stays as `run.started` made it. */
export const RUN_STATE: Table = {
  name: "runs",
  columns: {
    tenant: "text",
    run_id: "text",
    status: "text",
    termination: "text",
    answer: "text",
    head: "bigint",
    updated_at: "bigint",
    next_run_id: "text",
    pending: "text",
    in_doubt: "text",
    journal_hash: "text",
    unfinished: "smallint",
  },
};

export const RUNS: Table = {
  name: "runs",
  columns: {
    ...RUN_STATE.columns,
    agent: "text",
    conversation_id: "text",
    conversation_key: "text",
    principal: "text",
    input: "text",
    started_at: "bigint",
  },
};

/** What an answer changes. */
export const APPROVAL_STATE: Table = {
  name: "approvals",
  columns: {
    tenant: "text",
    approval_key: "text",
    status: "text",
    resolved_at: "bigint",
    resolved_by: "text",
    note: "text",
  },
};

export const APPROVALS: Table = {
  name: "approvals",
  columns: {
    ...APPROVAL_STATE.columns,
    approval_id: "text",
    run_id: "text",
    call_id: "text",
    agent: "text",
    tool: "text",
    args: "text",
    args_hash: "text",
    code: "text",
    reason: "text",
    rule_id: "text",
    requester: "text",
    requested_at: "bigint",
    expires_at: "bigint",
  },
};

export const BUDGETS: Table = {
  name: "budgets",
  columns: { tenant: "text", budget_key: "text", budget: "text", used: "bigint", reserved: "bigint" },
};

export const RESERVATIONS: Table = {
  name: "reservations",
  columns: {
    tenant: "text",
    run_id: "text",
    reservation_key: "text",
    reservation_id: "text",
    budget: "text",
    amount: "bigint",
  },
};

export const BLOBS: Table = { name: "blobs", columns: { sha256: "text", text: "text" } };

export const AUDIT_RECORDS: Table = {
  name: "audit_records",
  columns: { tenant: "text", run_id: "text", run_seq: "bigint", text: "text", leaf: "text" },
};

/** Names of the columns, so that a column added by a later version disturbs no prepared statement. */
export function columnsOf({ columns }: Table, prefix = ""): string {
  return Object.keys(columns)
    .map((column) => `${prefix}${column}`)
    .join(", ");
}

/** `unnest` of one array for each column, which makes rows of any number out of one statement. */
export function unnestOf({ columns }: Table): string {
  const arrays = Object.values(columns).map((type, index) => `$${index + 1}::${type}[]`);
  return `unnest(${arrays.join(", ")})`;
}

export type TableRow = Readonly<Record<string, string | number | null>>;

/** The arrays that `unnestOf` asks for. */
export function arraysOf({ columns }: Table, rows: readonly TableRow[]): readonly unknown[] {
  return Object.keys(columns).map((column) => rows.map((row) => row[column] ?? null));
}
