import { execFileSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import pg from "pg";
import { expect, it, onTestFinished } from "vitest";
import { postgresFolder } from "../../../scripts/ensure-postgres.ts";
import { createPgBossWaker, createPostgresStore } from "../../../src/adapters/postgres/index.ts";
import { type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import { approvalRequested, repliedCalls, runStarted, SAMPLE_AT, sampleCall } from "../../../src/testing/index.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

async function execute(url: string, sql: string): Promise<void> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    await client.query(sql);
  } finally {
    await client.end();
  }
}

async function writeRun(store: Store, runId: string): Promise<void> {
  const events = [runStarted(), repliedCalls(sampleCall("c-1")), approvalRequested("c-1", `apr-${runId}`)];
  const entries = events.map((event) => ({ at: SAMPLE_AT, event }));
  expect(await store.commit({ run: { tenant: "default", runId }, head: 0, entries })).toMatchObject({
    status: "committed",
  });
}

/** What docs/guides/postgres.md says, done. */
describeWithPostgres("what the guide says", () => {
  const used = useServer();

  it("a dump that is restored elsewhere verifies, goes on, and is known to be older than a later checkpoint", async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-dump-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const file = join(folder, "belay.dump");
    const program = (name: string, ...args: readonly string[]) =>
      execFileSync(join(postgresFolder() ?? "", name), args, { stdio: "pipe" });
    await using store = await used.open("belay");
    await writeRun(store, "run-1");
    const early = { size: await store.audit.size(), root: await store.audit.root() };
    program("pg_dump", "--format=custom", `--file=${file}`, used.server.url);
    await writeRun(store, "run-2");
    const late = { size: await store.audit.size(), root: await store.audit.root() };
    await execute(used.server.url, "CREATE DATABASE restored");
    const url = used.server.url.replace(/postgres$/, "restored");
    program("pg_restore", "--exit-on-error", `--dbname=${url}`, file);
    await using restored = await createPostgresStore({ connectionString: url });
    expect(await verifyStoreAudit(restored, { trustedCheckpoints: [early] })).toMatchObject({ ok: true });
    expect(await verifyStoreAudit(restored, { trustedCheckpoints: [late] })).toMatchObject({ ok: false });
    await writeRun(restored, "run-3");
    expect(await verifyStoreAudit(restored, { trustedCheckpoints: [early] })).toMatchObject({ ok: true });
  });

  it("a user that may not change the audit log runs store and waker", async () => {
    await execute(used.server.url, "CREATE DATABASE roles");
    const owner = used.server.url.replace(/postgres$/, "roles");
    {
      // As the owner once, to make the tables.
      await using store = await createPostgresStore({ connectionString: owner });
      await store.audit.size();
    }
    await execute(
      owner,
      `CREATE ROLE belay_app LOGIN;
      GRANT USAGE ON SCHEMA belay TO belay_app;
      GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA belay TO belay_app;
      REVOKE UPDATE, DELETE ON belay.audit_records, belay.audit_order, belay.checkpoints FROM belay_app;
      REVOKE UPDATE ON belay.journal FROM belay_app;`,
    );
    const url = owner.replace("belay@", "belay_app@");
    await using store = await createPostgresStore({ connectionString: url });
    await writeRun(store, "run-1");
    expect(await store.acquireLease({ tenant: "default", runId: "run-1" }, "w", 1000, SAMPLE_AT)).toMatchObject({
      status: "held",
    });
    await store.audit.saveCheckpoint("note", await store.audit.size());
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    const wake = { run: { tenant: "default", runId: "run-1" }, why: "start", key: "start" } as const;
    {
      await using waker = createPgBossWaker({ connectionString: url });
      await expect(waker.wake(wake)).rejects.toThrow(/42501; give its user the rights/);
      await execute(owner, "GRANT CREATE ON DATABASE roles TO belay_app");
      await waker.wake(wake);
      await execute(owner, "REVOKE CREATE ON DATABASE roles FROM belay_app");
    }
    await using waker = createPgBossWaker({ connectionString: url });
    await waker.wake({ ...wake, key: "again" });
    await expect(execute(url, "UPDATE belay.journal SET event = ''")).rejects.toThrow("permission denied");
    await expect(execute(url, "UPDATE belay.audit_records SET text = ''")).rejects.toThrow("permission denied");
    await expect(execute(url, "DELETE FROM belay.audit_order")).rejects.toThrow("permission denied");
  });
});
