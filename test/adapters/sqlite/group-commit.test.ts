import type { DatabaseSync } from "node:sqlite";
import { expect, it, vi } from "vitest";
import { openDatabase } from "../../../src/adapters/sqlite/open-database.ts";
import { translateSqliteError } from "../../../src/adapters/sqlite/sqlite-error.ts";
import { createWriteQueue } from "../../../src/adapters/sqlite/write-queue.ts";

async function queueOn(finish: (database: DatabaseSync) => void = () => undefined) {
  const database = await openDatabase(":memory:", 100);
  database.exec("CREATE TABLE t (a INTEGER UNIQUE)");
  const queue = createWriteQueue({
    database,
    groupCommitMs: 0,
    lockTimeoutMs: 100,
    begin: () => undefined,
    finish: () => finish(database),
    translate: (error) => translateSqliteError("t.db", error),
  });
  const insert = (value: number) => queue.write(() => database.prepare("INSERT INTO t VALUES (?)").run(value).changes);
  const rows = () =>
    database
      .prepare("SELECT a FROM t ORDER BY a")
      .all()
      .map((row) => row["a"]);
  return { database, queue, insert, rows };
}

it("writes of one turn share one transaction, later ones get another", async () => {
  const finish = vi.fn();
  const { insert, rows } = await queueOn(finish);
  await Promise.all([insert(1), insert(2), Promise.resolve().then(() => insert(3))]);
  expect(finish).toHaveBeenCalledTimes(1);
  await insert(4);
  expect(finish).toHaveBeenCalledTimes(2);
  expect(rows()).toEqual([1, 2, 3, 4]);
});

it("a write that fails takes back only itself", async () => {
  const { database, queue, insert, rows } = await queueOn();
  const half = queue.write(() => {
    database.exec("INSERT INTO t VALUES (7)");
    throw new Error("half way");
  });
  const results = await Promise.allSettled([insert(1), half, insert(1), insert(2)]);
  expect(results.map((result) => result.status)).toEqual(["fulfilled", "rejected", "rejected", "fulfilled"]);
  expect(rows()).toEqual([1, 2]);
  await expect(half).rejects.toThrow("half way");
});

it("a write without company that fails takes back all it did, and the next one works", async () => {
  const { database, queue, insert, rows } = await queueOn();
  const half = queue.write(() => {
    database.exec("INSERT INTO t VALUES (7)");
    throw new Error("half way");
  });
  await expect(half).rejects.toThrow("half way");
  expect(database.isTransaction).toBe(false);
  await insert(1);
  expect(rows()).toEqual([1]);
});

it("when the common commit fails all are told, nothing is half done, and the next write works", async () => {
  let isBroken = true;
  const { insert, rows, database } = await queueOn(() => {
    if (isBroken) {
      throw Object.assign(new Error("disk full"), { code: "ERR_SQLITE_ERROR", errcode: 13 });
    }
  });
  const results = await Promise.allSettled([insert(1), insert(2)]);
  expect(results).toMatchObject([{ reason: { code: "BELAY_STORE_FULL" } }, { reason: { code: "BELAY_STORE_FULL" } }]);
  expect(database.isTransaction).toBe(false);
  isBroken = false;
  await insert(3);
  expect(rows()).toEqual([3]);
});

it("when the transaction is lost in the middle all of it are told, also those that had worked", async () => {
  const { database, queue, insert, rows } = await queueOn();
  const lost = queue.write(() => {
    database.exec("ROLLBACK");
    throw Object.assign(new Error("io"), { code: "ERR_SQLITE_ERROR", errcode: 10 });
  });
  const results = await Promise.allSettled([insert(1), lost, insert(2)]);
  expect(results.map((result) => result.status)).toEqual(["rejected", "rejected", "rejected"]);
  expect(rows()).toEqual([]);
  await insert(3);
  expect(rows()).toEqual([3]);
});
