import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import pg from "pg";
import { expect, it } from "vitest";
import { type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import { runStarted, SAMPLE_AT } from "../../../src/testing/index.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const COMMITTER = fileURLToPath(new URL("./children/committer.ts", import.meta.url));

function startCommitter(url: string, schema: string, name: string) {
  const child: ChildProcess = spawn(process.execPath, ["--conditions=belay-source", COMMITTER, url, schema, name], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const ended = once(child, "close");
  return {
    // Whole lines only: the last one may be cut off by the kill.
    lines: () => printed.split("\n").slice(0, -1),
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

async function until(isTrue: () => boolean | Promise<boolean>): Promise<void> {
  while (!(await isTrue())) await sleep(20);
}

const start = (store: Store, runId: string) =>
  store.commit({ run: { tenant: "default", runId }, head: 0, entries: [{ at: SAMPLE_AT, event: runStarted() }] });

describeWithPostgres("the sequencer", () => {
  const used = useServer();

  async function ask(sql: string): Promise<readonly Record<string, unknown>[]> {
    const client = new pg.Client({ connectionString: used.server.url });
    await client.connect();
    try {
      return (await client.query(sql)).rows as Record<string, unknown>[];
    } finally {
      await client.end();
    }
  }

  const pending = async (schema: string) =>
    Number((await ask(`SELECT count(*) AS n FROM ${schema}.audit_pending`))[0]?.["n"]);

  const numbered = async (schema: string, name: string) => {
    const sql = `SELECT count(*) AS n FROM ${schema}.audit_order JOIN ${schema}.audit_records USING (id)
      WHERE run_id LIKE '${name}-%'`;
    return Number((await ask(sql))[0]?.["n"]);
  };

  it("numbers records although nobody reads the log", async () => {
    await using store = await used.open("alone");
    await Promise.all(Array.from({ length: 30 }, (_, index) => start(store, `run-${index}`)));
    await until(async () => (await pending("alone")) === 0);
    expect(await ask("SELECT count(*)::int AS n FROM alone.audit_order")).toEqual([{ n: 30 }]);
  });

  it("when its session is ended by hand it, or another, goes on", async () => {
    await using one = await used.open("ended");
    await using _two = await used.open("ended");
    for (let round = 0; round < 3; round += 1) {
      await start(one, `run-${round}`);
      await until(async () => (await pending("ended")) === 0);
      const ended = await ask(`SELECT pg_terminate_backend(pid) FROM pg_locks
        WHERE locktype = 'advisory' AND granted AND pid <> pg_backend_pid()`);
      expect(ended.length).toBeGreaterThan(0);
    }
    expect(await verifyStoreAudit(one)).toMatchObject({ ok: true, size: 3 });
  });

  it("killed in the middle of its work it leaves no gap, nothing twice, and another goes on", async () => {
    // Only the children number in the background.
    await using store = await used.open("killed", { sequencer: false });
    for (const name of ["one", "two", "three"]) {
      const child = startCommitter(used.server.url, "killed", name);
      await until(async () => child.lines().length > 60 && (await numbered("killed", name)) > 20);
      await child.kill();
      for (const line of child.lines()) {
        const [runId = "", head = ""] = line.split(" ");
        expect((await store.run({ tenant: "default", runId }))?.head).toBeGreaterThanOrEqual(Number(head));
      }
      expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    }
  });

  it("a transaction that becomes visible late, with smaller ids, is neither lost nor in anybody's way", async () => {
    await using store = await used.open("late", { sequencer: false });
    await start(store, "first");
    const slow = new pg.Client({ connectionString: used.server.url });
    await slow.connect();
    // As a commit does, and stays open while others pass it.
    await slow.query("BEGIN");
    await slow.query(`WITH made AS (
      INSERT INTO late.audit_records (tenant, run_id, run_seq, text, leaf)
      SELECT tenant, 'slow', 1, text, leaf FROM late.audit_records LIMIT 1 RETURNING id)
      INSERT INTO late.audit_pending SELECT id FROM made`);
    await start(store, "second");
    expect(await store.audit.size()).toBe(2);
    await start(store, "third");
    expect(await store.audit.size()).toBe(3);
    await slow.query("COMMIT");
    await slow.end();
    expect(await store.audit.size()).toBe(4);
    const order = await ask("SELECT id::int AS id FROM late.audit_order ORDER BY seq");
    expect(order.map(({ id }) => id)).toEqual([1, 3, 4, 2]);
  });
});
