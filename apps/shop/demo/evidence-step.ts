import { join } from "node:path";
import { backup, DatabaseSync } from "node:sqlite";
import type { Store } from "belay-harness";
import { openSqliteStore } from "belay-harness/sqlite";
import { type StoreAuditVerdict, verifyStoreAudit } from "belay-harness/store";
import { claim, claimEqual } from "./claim.ts";
import type { Step } from "./run-steps.ts";
import type { Stage } from "./stage.ts";

/** The record that would be worth forging: who approved the large refund. */
interface Target {
  /** Place in the audit log. */
  readonly seq: number;
  readonly runId: string;
  readonly runSeq: number;
}

export const evidenceStep: Step = {
  title: "The audit log verifies, and an edited copy does not",
  run: async (stage) => {
    const { printer } = stage;
    const { verdict, target } = await withStore(stage.storeFile, async (store) => ({
      verdict: await verifyStoreAudit(store),
      target: await approvalRecord(store),
    }));
    claim(verdict.ok, `the audit log is intact: ${textOf(verdict)}`);
    printer.line("checked", textOf(verdict));

    const record = await verdictOnCopy(stage, "record.db", (database) =>
      database
        .prepare(`UPDATE audit SET text = replace(text, '"dana"', '"lee"') WHERE seq = ? AND text LIKE '%"dana"%'`)
        .run(target.seq),
    );
    printer.line("process", `in a copy, record ${target.seq} now says that lee approved, and not dana`);
    claimEqual("the verifier on the edited record", named(record), { problem: "changed", seq: target.seq });
    printer.line("found", textOf(record));

    const journal = await verdictOnCopy(stage, "journal.db", (database) =>
      database
        .prepare(`UPDATE journal SET event = replace(event, '"dana"', '"lee"')
          WHERE run_id = ? AND seq = ? AND event LIKE '%"dana"%'`)
        .run(target.runId, target.runSeq),
    );
    printer.line("process", "in another copy, the journal says so, and the audit log is left alone");
    claimEqual("the verifier on the edited journal", named(journal), { problem: "journal_differs", seq: target.seq });
    printer.line("found", textOf(journal));

    const after = await withStore(stage.storeFile, (store) => verifyStoreAudit(store));
    claimEqual("the original after the copies were edited", after, verdict);
  },
};

async function withStore<Value>(file: string, work: (store: Store) => Promise<Value>): Promise<Value> {
  const store = await openSqliteStore(file);
  try {
    return await work(store);
  } finally {
    await store.close();
  }
}

async function approvalRecord(store: Store): Promise<Target> {
  for (const { seq, text } of await store.audit.entries(0, 1000)) {
    const record = JSON.parse(text) as Readonly<Record<string, unknown>>;
    if (record["type"] === "approval.resolved") {
      return { seq, runId: String(record["run"]), runSeq: Number(record["seq"]) };
    }
  }
  throw new Error("the audit log has no record of the approval");
}

/** Copies the store's file, edits exactly one row of the copy, and asks the verifier. */
async function verdictOnCopy(
  { folder, storeFile }: Stage,
  name: string,
  edit: (database: DatabaseSync) => { readonly changes: number | bigint },
): Promise<StoreAuditVerdict> {
  const copyFile = join(folder, name);
  const original = new DatabaseSync(storeFile, { readOnly: true });
  try {
    await backup(original, copyFile);
  } finally {
    original.close();
  }
  const copy = new DatabaseSync(copyFile);
  try {
    claimEqual("rows edited in the copy", Number(edit(copy).changes), 1);
  } finally {
    copy.close();
  }
  return withStore(copyFile, (store) => verifyStoreAudit(store));
}

function named(verdict: StoreAuditVerdict): unknown {
  return verdict.ok ? "intact" : { problem: verdict.problem, seq: verdict.seq };
}

function textOf(verdict: StoreAuditVerdict): string {
  return verdict.ok
    ? `the audit log is intact: ${verdict.size} records, root ${verdict.root}`
    : `${verdict.problem} at record ${verdict.seq}: ${verdict.detail}`;
}
