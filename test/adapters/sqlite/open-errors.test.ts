import { spawnSync } from "node:child_process";
import { chmodSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { checkSqliteVersion, networkFileSystem } from "../../../src/adapters/sqlite/check-path.ts";
import { openSqliteStore, rebuildProjections } from "../../../src/adapters/sqlite/index.ts";
import { translateSqliteError } from "../../../src/adapters/sqlite/sqlite-error.ts";
import * as sample from "../../../src/testing/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

async function failureOf(path: string): Promise<{ code: string; message: string; cause?: unknown }> {
  return openSqliteStore(path, { lockTimeoutMs: 50 }).then(
    () => expect.unreachable("the store must not open"),
    (error) => error,
  );
}

it("a path that cannot be a file is refused with what to do", async () => {
  const folder = temporaryFolder();
  for (const path of [folder, join(folder, "missing", "store.db"), "", "a\0b"]) {
    const error = await failureOf(path);
    expect(error.code).toBe("BELAY_STORE_PATH");
    expect(error.message).toContain(JSON.stringify(path));
  }
});

it("a file that is no database, or a damaged one, is refused and left as it is", async () => {
  const folder = temporaryFolder();
  const text = join(folder, "notes.txt");
  writeFileSync(text, "just some notes\n".repeat(500));
  expect(await failureOf(text)).toMatchObject({ code: "BELAY_STORE_CORRUPT" });
  expect(readFileSync(text, "utf8")).toBe("just some notes\n".repeat(500));
  const damaged = join(folder, "damaged.db");
  await (await openSqliteStore(damaged)).close();
  const bytes = readFileSync(damaged);
  writeFileSync(damaged, bytes.fill(0xaa, 100, 4096));
  const error = await failureOf(damaged);
  expect(error).toMatchObject({ code: "BELAY_STORE_CORRUPT", message: expect.stringContaining(damaged) });
});

it("damage that is met later is a typed error as well, with SQLite's text only as cause", async () => {
  const path = join(temporaryFolder(), "store.db");
  const store = await openSqliteStore(path);
  const entries = [{ at: sample.SAMPLE_AT, event: sample.runStarted() }];
  for (let index = 0; index < 50; index += 1) {
    await store.commit({ run: { tenant: "default", runId: `run-${index}` }, head: 0, entries });
  }
  await store.close();
  const database = new DatabaseSync(path);
  const page = Number(database.prepare("SELECT rootpage FROM sqlite_schema WHERE name = 'runs'").get()?.["rootpage"]);
  database.close();
  writeFileSync(path, readFileSync(path).fill(0xaa, (page - 1) * 4096, page * 4096));
  const again = await openSqliteStore(path);
  const error = await again.runs({ tenant: "default" }).catch((caught) => caught);
  expect(error).toMatchObject({ code: "BELAY_STORE_CORRUPT", cause: { code: "ERR_SQLITE_ERROR" } });
  expect(error.message).not.toContain("malformed");
  await again.close();
});

it("a database of another program is refused and not touched", async () => {
  const folder = temporaryFolder();
  for (const sql of ["CREATE TABLE t (a)", "PRAGMA application_id = 7"]) {
    const path = join(folder, `${sql.length}.db`);
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
    const before = readFileSync(path);
    expect(await failureOf(path)).toMatchObject({ code: "BELAY_STORE_FOREIGN" });
    expect(readFileSync(path)).toEqual(before);
  }
});

it("a store of a newer version is refused", async () => {
  const path = join(temporaryFolder(), "store.db");
  await (await openSqliteStore(path)).close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 99");
  database.close();
  expect(await failureOf(path)).toMatchObject({ code: "BELAY_STORE_TOO_NEW", message: expect.stringContaining("99") });
});

it("a store of an earlier format is refused with what to do, and left as it is", async () => {
  const path = join(temporaryFolder(), "store.db");
  await (await openSqliteStore(path)).close();
  const database = new DatabaseSync(path);
  database.exec("PRAGMA user_version = 1");
  database.close();
  expect(await failureOf(path)).toMatchObject({
    code: "BELAY_STORE_TOO_OLD",
    message: expect.stringContaining("Start a new database"),
  });
});

it("a store of format 2 is brought up, with the calls in doubt that its journal holds", async () => {
  const path = join(temporaryFolder(), "store.db");
  const store = await openSqliteStore(path);
  const unknown = { status: "unknown", error: { code: "outcome_unknown", message: "?", retryable: false } } as const;
  const entries = [
    sample.runStarted(),
    sample.repliedCalls(sample.sampleCall("c-1"), sample.sampleCall("c-2")),
    { type: "call.settled", callId: "c-1", outcome: unknown, attempt: 1 } as const,
    sample.runEnded("cancelled"),
  ].map((event) => ({ at: sample.SAMPLE_AT, event }));
  await store.commit({ run: { tenant: "default", runId: "lost" }, head: 0, entries });
  await store.commit({ run: { tenant: "default", runId: "clear" }, head: 0, entries: entries.slice(0, 2) });
  await store.close();
  const database = new DatabaseSync(path);
  database.exec(`DROP INDEX runs_in_doubt; ALTER TABLE runs DROP COLUMN in_doubt; DROP INDEX runs_paused;
    ALTER TABLE runs DROP COLUMN paused_until; PRAGMA user_version = 2;`);
  database.close();
  // Twice: the second opening finds nothing to do.
  for (let time = 0; time < 2; time += 1) {
    const opened = await openSqliteStore(path);
    const rows = await opened.runs({ tenant: "default" });
    expect(rows.map(({ runId, inDoubt }) => [runId, inDoubt])).toEqual([
      ["clear", undefined],
      ["lost", ["c-1"]],
    ]);
    expect(await opened.audit.differences()).toEqual([]);
    await opened.close();
  }
});

it("a file or folder that this user may not write is a typed error", async () => {
  const folder = temporaryFolder();
  const path = join(folder, "store.db");
  await (await openSqliteStore(path)).close();
  chmodSync(folder, 0o755);
  chmodSync(path, 0o444);
  const tryToOpen = join(import.meta.dirname, "children/try-to-open.ts");
  // Root may write everything, so the child is somebody else.
  const user = process.getuid?.() === 0 ? { uid: 65_534, gid: 65_534 } : {};
  const codeOf = (file: string): string =>
    spawnSync(process.execPath, [tryToOpen, file], { encoding: "utf8", ...user }).stdout.trim();
  expect(codeOf(path)).toBe("BELAY_STORE_READ_ONLY");
  chmodSync(folder, 0o555);
  expect(codeOf(join(folder, "new.db"))).toBe("BELAY_STORE_PATH");
  chmodSync(folder, 0o755);
});

it("a column that somebody made unreadable is named with its table and run", async () => {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  const run = { tenant: "default", runId: "run-1" };
  const events = [
    sample.runStarted(),
    sample.repliedCalls(sample.sampleCall("c-1")),
    sample.approvalRequested("c-1", "apr-1"),
  ];
  await store.commit({ run, head: 0, entries: events.map((event) => ({ at: sample.SAMPLE_AT, event })) });
  const damage = async (sql: string, read: () => Promise<unknown>) => {
    const database = new DatabaseSync(path);
    database.exec(sql);
    database.close();
    return read().then(
      () => expect.unreachable("damage must be found"),
      (error: { code: string; message: string }) => error,
    );
  };
  const args = await damage("UPDATE approvals SET args = '{'", () => store.approval("default", "apr-1"));
  expect([args.code, args.message]).toEqual([
    "BELAY_STORE_CORRUPT",
    expect.stringMatching(/column args of the table approvals .* approval apr-1 of run run-1.*belay doctor --rebuild/),
  ]);
  const next = { run, head: 3, entries: [{ at: sample.SAMPLE_AT, event: sample.runEnded() }] };
  for (const sql of [
    "UPDATE runs SET pending = 'x'",
    "UPDATE runs SET pending = '{}'",
    "UPDATE runs SET principal = '7'",
    "UPDATE runs SET head = 9223372036854775807",
  ]) {
    const error = await damage(sql, () => store.runs({ tenant: "default" }));
    expect([sql, error.code]).toEqual([sql, "BELAY_STORE_CORRUPT"]);
    await expect(store.commit(next)).rejects.toMatchObject({ code: "BELAY_STORE_CORRUPT" });
  }
  await rebuildProjections(store);
  expect(await store.approval("default", "apr-1")).toMatchObject({ args: { order: 7 } });
  const event = await damage("UPDATE journal SET event = '{' WHERE seq = 2", () => store.read(run));
  expect([event.code, event.message]).toEqual([
    "BELAY_STORE_CORRUPT",
    expect.stringMatching(/Event 2 of run run-1 in the table journal/),
  ]);
});

it("an event of a newer version is refused when it is read", async () => {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  const run = { tenant: "default", runId: "run-1" };
  await store.commit({ run, head: 0, entries: [{ at: sample.SAMPLE_AT, event: sample.runStarted() }] });
  const database = new DatabaseSync(path);
  database.exec("UPDATE journal SET schema = 2");
  database.close();
  await expect(store.read(run)).rejects.toMatchObject({ code: "BELAY_JOURNAL_TOO_NEW" });
});

it("a file that another program holds is a typed error after the wait, and works once it is free", async () => {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path, { lockTimeoutMs: 60 });
  const run = { tenant: "default", runId: "run-1" };
  const commit = { run, head: 0, entries: [{ at: sample.SAMPLE_AT, event: sample.runStarted() }] };
  const other = new DatabaseSync(path);
  other.exec("BEGIN IMMEDIATE");
  await expect(store.commit(commit)).rejects.toMatchObject({
    code: "BELAY_STORE_LOCKED",
    message: expect.stringContaining(path),
  });
  const waiting = store.acquireLease(run, "one", 1000, 0);
  other.exec("ROLLBACK");
  other.close();
  expect(await waiting).toMatchObject({ status: "held" });
  expect(await store.commit(commit)).toEqual({ status: "committed", head: 1 });
});

it("SQLite libraries older than the first safe one are refused", () => {
  for (const old of ["3.51.2", "3.50.9", "2.99.99", "3.9.0", "0", "junk"]) {
    expect(() => checkSqliteVersion(old)).toThrow(expect.objectContaining({ code: "BELAY_STORE_SQLITE_OLD" }));
  }
  for (const fine of ["3.51.3", "3.53.4", "3.100.0", "4.0.0"]) {
    expect(() => checkSqliteVersion(fine)).not.toThrow();
  }
});

it("network file systems are told by their number, signed or not", () => {
  expect(networkFileSystem(0x6969)).toBe("NFS");
  expect(networkFileSystem(0xff534d42)).toBe("CIFS");
  expect(networkFileSystem(0xff534d42 | 0)).toBe("CIFS");
  expect(networkFileSystem(0x65735546)).toContain("FUSE");
  expect(networkFileSystem(0xef53)).toBeUndefined();
});

it("every result of SQLite has a code of ours, and other errors pass unchanged", () => {
  const sqlite = (errcode: number) => Object.assign(new Error("raw text"), { code: "ERR_SQLITE_ERROR", errcode });
  const codeOf = (errcode: number) => (translateSqliteError("x.db", sqlite(errcode)) as { code: string }).code;
  expect([5, 261, 6, 11, 26, 8, 13, 10, 778, 14, 1, 19].map(codeOf)).toEqual([
    "BELAY_STORE_LOCKED",
    "BELAY_STORE_LOCKED",
    "BELAY_STORE_LOCKED",
    "BELAY_STORE_CORRUPT",
    "BELAY_STORE_CORRUPT",
    "BELAY_STORE_READ_ONLY",
    "BELAY_STORE_FULL",
    "BELAY_STORE_FAILED",
    "BELAY_STORE_FAILED",
    "BELAY_STORE_PATH",
    "BELAY_STORE_FAILED",
    "BELAY_STORE_FAILED",
  ]);
  const other = new TypeError("a bug");
  expect(translateSqliteError("x.db", other)).toBe(other);
});

it("what is opened here is durable: write-ahead log and full synchronisation", async () => {
  const folder = temporaryFolder();
  mkdirSync(join(folder, "ünïcode"));
  const path = join(folder, "ünïcode", "store.db");
  await (await openSqliteStore(path)).close();
  const database = new DatabaseSync(path);
  expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
  database.close();
});
