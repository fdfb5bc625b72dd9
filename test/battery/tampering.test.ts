import { copyFileSync, mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import {
  appendLeaf,
  decodeFrontier,
  EMPTY_FRONTIER,
  encodeFrontier,
  generateSigner,
  rootOf,
  signCheckpoint,
} from "../../src/audit/index.ts";
import { type StoreAuditVerdict, verifyStoreAudit } from "../../src/journal/index.ts";
import { calls, DANA, final, world } from "../engine/support.ts";

const folder = mkdtempSync(join(tmpdir(), "belay-tampering-"));
const original = join(folder, "original.db");
const { signer } = generateSigner("test/audit");
let checkpoint = "";

beforeAll(async () => {
  const store = await openSqliteStore(original);
  const replies = [
    calls(["refund", { order: "A", cents: 5000 }]),
    final("done"),
    calls(["refund", { order: "B", cents: 9000 }]),
  ];
  const { harness } = world(replies, { options: { store } });
  const { approvals } = await harness.run("first", { runId: "r1" }).result;
  await harness.decide({ approvalId: approvals[0]?.approvalId ?? "", answer: "approved", by: DANA });
  await harness.advance({ tenant: "default", runId: "r1" });
  await harness.run("second", { runId: "r2" }).result;
  const frontier = decodeFrontier(await store.audit.frontier());
  checkpoint = signCheckpoint({ origin: "test/audit", size: frontier.size, root: rootOf(frontier) }, signer);
  await store.close();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

async function verifyAfter(edit: (database: DatabaseSync) => void, isAnchored = false): Promise<StoreAuditVerdict> {
  const file = join(mkdtempSync(join(folder, "copy-")), "copy.db");
  copyFileSync(original, file);
  const database = new DatabaseSync(file);
  edit(database);
  database.close();
  const store = await openSqliteStore(file);
  try {
    return await verifyStoreAudit(store, isAnchored ? { checkpoint, verifierKeys: [signer.verifierKey] } : {});
  } finally {
    await store.close();
  }
}

const AUDITED = [
  "run.started",
  "call.decided",
  "approval.requested",
  "approval.resolved",
  "call.started",
  "call.settled",
  "run.ended",
];

const EDITS: readonly (readonly [what: string, sql: string, problem: string])[] = [
  ["a record's text", "UPDATE audit SET text = replace(text, 'anonymous', 'anonymouse') WHERE seq = 0", "changed"],
  ["a record's leaf", "UPDATE audit SET leaf = '00' || substr(leaf, 3) WHERE seq = 1", "changed"],
  [
    "the place of two records",
    "UPDATE audit SET seq = -1 WHERE seq = 2; UPDATE audit SET seq = 2 WHERE seq = 3; UPDATE audit SET seq = 3 WHERE seq = -1",
    "root_mismatch",
  ],
  ["the event a record points to", "UPDATE audit SET run_seq = run_seq + 1 WHERE seq = 2", "journal_differs"],
  ["the tenant of a record", "UPDATE audit SET tenant = 'other' WHERE seq = 2", "journal_missing"],
  ["the tail of the log", "DELETE FROM audit WHERE seq > 4", "truncated"],
  ["a run of the journal", "DELETE FROM journal WHERE run_id = 'r2'", "journal_missing"],
  ["the tree's state", "UPDATE audit_state SET frontier = 'zz'", "unreadable"],
];

describe("verification finds an edit of", () => {
  it.each(AUDITED)("the event %s", async (type) => {
    const verdict = await verifyAfter((database) => {
      const like = `%"type":"${type}"%`;
      database
        .prepare("UPDATE journal SET event = replace(event, '{', '{ ') WHERE run_id = 'r1' AND event LIKE ?")
        .run(like);
    });
    expect(verdict).toMatchObject({ ok: false, problem: "journal_differs" });
  });

  it.each(AUDITED)("the time of %s", async (type) => {
    const verdict = await verifyAfter((database) => {
      database.prepare("UPDATE journal SET at = at + 1 WHERE run_id = 'r1' AND event LIKE ?").run(`%"type":"${type}"%`);
    });
    expect(verdict).toMatchObject({ ok: false, problem: "journal_differs" });
  });

  it.each(EDITS)("%s", async (_what, sql, problem) => {
    expect(await verifyAfter((database) => database.exec(sql))).toMatchObject({ ok: false, problem });
  });

  it("the journal, when an approval was slipped in", async () => {
    const verdict = await verifyAfter((database) => {
      const row = database.prepare("SELECT * FROM approvals WHERE run_id = 'r2'").get() ?? {};
      const head =
        database.prepare("SELECT max(seq) AS head, max(at) AS at FROM journal WHERE run_id = 'r2'").get() ?? {};
      const { call_id: callId, approval_id: approvalId, args_hash: argsHash } = row;
      const event = { type: "approval.resolved", callId, approvalId, answer: "approved", by: DANA, argsHash };
      database
        .prepare("INSERT INTO journal VALUES ('default', 'r2', ?, ?, 1, ?)")
        .run(Number(head["head"]) + 1, Number(head["at"]), JSON.stringify(event));
    });
    expect(verdict).toMatchObject({ ok: false, problem: "record_missing" });
  });

  it("everything, when the last run was taken out and the tree was made again, against a checkpoint kept elsewhere", async () => {
    const rollBack = (database: DatabaseSync): void => {
      for (const table of ["journal", "audit", "runs", "approvals"])
        database.exec(`DELETE FROM ${table} WHERE run_id = 'r2'`);
      const leaves = database.prepare("SELECT leaf FROM audit ORDER BY seq").all();
      const frontier = leaves.reduce((tree, { leaf }) => appendLeaf(tree, String(leaf)), EMPTY_FRONTIER);
      database.prepare("UPDATE audit_state SET size = ?, frontier = ?").run(frontier.size, encodeFrontier(frontier));
    };
    expect(await verifyAfter(rollBack, true)).toMatchObject({ ok: false, problem: "truncated" });
    expect((await verifyAfter(() => undefined, true)).ok).toBe(true);
  });
});
