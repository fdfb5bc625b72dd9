import { once } from "node:events";
import { type AddressInfo, createServer } from "node:net";
import pg from "pg";
import { expect, it } from "vitest";
import { createPostgresStore } from "../../../src/adapters/postgres/index.ts";
import { verifyStoreAudit } from "../../../src/journal/index.ts";
import { runStarted, SAMPLE_AT } from "../../../src/testing/index.ts";
import { describeWithPostgres, startPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

async function run(url: string, sql: string): Promise<readonly unknown[]> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describeWithPostgres("opening", () => {
  const used = useServer();

  it("several at once make the tables once, and all work", async () => {
    const stores = await Promise.all(Array.from({ length: 6 }, () => used.open("together")));
    const entries = [{ at: SAMPLE_AT, event: runStarted() }];
    for (const [index, store] of stores.entries()) {
      await store.commit({ run: { tenant: "default", runId: `run-${index}` }, head: 0, entries });
    }
    expect(await verifyStoreAudit(stores[5] ?? (await used.open("together")))).toMatchObject({ ok: true, size: 6 });
    await Promise.all(stores.map((store) => store.close()));
  });

  it("a later format is refused and left as it is", async () => {
    await (await used.open("later")).close();
    await run(used.server.url, "UPDATE later.belay_format SET format = 99");
    await expect(used.open("later")).rejects.toMatchObject({ code: "BELAY_STORE_TOO_NEW" });
    expect(await run(used.server.url, "SELECT format::int AS format FROM later.belay_format")).toEqual([
      { format: 99 },
    ]);
  });

  it("a schema with tables of another program is refused and left as it is", async () => {
    await run(used.server.url, "CREATE SCHEMA theirs; CREATE TABLE theirs.runs (a int)");
    await expect(used.open("theirs")).rejects.toMatchObject({ code: "BELAY_STORE_FOREIGN" });
    expect(await run(used.server.url, "SELECT a FROM theirs.runs")).toEqual([]);
  });

  it("a user without rights is told so", async () => {
    await run(used.server.url, "CREATE ROLE guest LOGIN");
    const url = used.server.url.replace("belay@", "guest@");
    const opening = createPostgresStore({ connectionString: url, schema: "guests" });
    await expect(opening).rejects.toMatchObject({ code: "BELAY_STORE_READ_ONLY" });
    const nowhere = createPostgresStore({ connectionString: `${used.server.url}_missing` });
    await expect(nowhere).rejects.toMatchObject({ code: "BELAY_STORE_UNAVAILABLE" });
  });

  it("options that cannot work are refused, and an address is not shown", async () => {
    const url = used.server.url;
    for (const options of [
      { connectionString: url, schema: `x"; DROP SCHEMA public` },
      { connectionString: url, max: 0 },
      { connectionString: "mysql://me:s3cret@host/db" },
      { connectionString: "s3cret" },
    ]) {
      const error = await createPostgresStore(options).then(
        () => undefined,
        (reason: unknown) => reason as Error & { code: string },
      );
      expect(error?.code).toBe("BELAY_STORE_PATH");
      expect(error?.message).not.toContain("s3cret");
    }
  });

  it("what a user's settings would weaken is made durable again", async () => {
    await run(
      used.server.url,
      `CREATE ROLE hasty SUPERUSER LOGIN; ALTER ROLE hasty SET synchronous_commit = off;
      ALTER ROLE hasty SET default_transaction_isolation = serializable;
      ALTER ROLE hasty SET default_transaction_read_only = on`,
    );
    const url = used.server.url.replace("belay@", "hasty@");
    await using store = await createPostgresStore({ connectionString: url, schema: "hasty" });
    await run(
      used.server.url,
      `CREATE TABLE hasty_seen (setting text, isolation text);
      CREATE FUNCTION hasty.look() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN
        INSERT INTO hasty_seen VALUES (current_setting('synchronous_commit'), current_setting('transaction_isolation'));
        RETURN NULL; END $$;
      CREATE TRIGGER look AFTER INSERT ON hasty.journal EXECUTE FUNCTION hasty.look()`,
    );
    const entries = [{ at: SAMPLE_AT, event: runStarted() }];
    await store.commit({ run: { tenant: "default", runId: "r" }, head: 0, entries });
    expect(await run(used.server.url, "SELECT * FROM hasty_seen")).toEqual([
      { setting: "on", isolation: "read committed" },
    ]);
  });

  it("a server that never answers counts as lost after a while", async () => {
    const silent = createServer((socket) => socket.on("error", () => undefined)).listen(0, "127.0.0.1");
    await once(silent, "listening");
    const { port } = silent.address() as AddressInfo;
    const opening = createPostgresStore({
      connectionString: `postgres://me@127.0.0.1:${port}/db`,
      answerTimeoutMs: 100,
    });
    await expect(opening).rejects.toMatchObject({ code: "BELAY_STORE_UNAVAILABLE" });
    silent.close();
    await using store = await createPostgresStore({ connectionString: used.server.url, answerTimeoutMs: 300 });
    const locker = new pg.Client({ connectionString: used.server.url });
    await locker.connect();
    await locker.query("BEGIN; LOCK TABLE belay.runs");
    await expect(store.runs({ tenant: "default" })).rejects.toMatchObject({ code: "BELAY_STORE_UNAVAILABLE" });
    await locker.end();
    expect(await store.runs({ tenant: "default" })).toEqual([]);
  });

  it("a server that does not wait for its disk is refused, unless that is accepted", async () => {
    await using server = await startPostgres({ settings: { fsync: "off" } });
    const opening = createPostgresStore({ connectionString: server.url });
    await expect(opening).rejects.toMatchObject({ code: "BELAY_STORE_POSTGRES_UNSAFE" });
    const store = await createPostgresStore({ connectionString: server.url, acceptUnsafeServer: true });
    await store.close();
  });
});
