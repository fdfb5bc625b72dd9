import { spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { createSqliteWaker, openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const WORKER = fileURLToPath(new URL("./children/stuck-worker.ts", import.meta.url));

it("a wake whose worker is killed comes to another worker, and not while the first one lives", async () => {
  const path = join(temporaryFolder(), "store.db");
  await using store = await openSqliteStore(path);
  const waker = createSqliteWaker(store, { pollMs: 5, redeliveryMs: 300 });
  await waker.wake({ run: { tenant: "default", runId: "run-1" }, why: "start", key: "k-1" });
  const child = spawn(process.execPath, ["--conditions=belay-source", WORKER, path], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  const [printed] = await once(child.stdout, "data");
  expect(String(printed)).toBe("k-1\n");
  const seen: string[] = [];
  const served = await waker.serve(async (wake) => {
    seen.push(wake.key);
  });
  // Longer than a claim lasts: a living worker prolongs it.
  await sleep(700);
  expect(seen).toEqual([]);
  child.kill("SIGKILL");
  await once(child, "close");
  for (let waited = 0; seen.length === 0 && waited < 20_000; waited += 5) {
    await sleep(5);
  }
  expect(seen).toEqual(["k-1"]);
  await served.close();
}, 60_000);

it("wakes are still there after the store is opened again", async () => {
  const path = join(temporaryFolder(), "store.db");
  const before = await openSqliteStore(path);
  await createSqliteWaker(before).wake({ run: { tenant: "t", runId: "r" }, why: "expiry", key: "k", notBefore: 1 });
  await before.close();
  await using store = await openSqliteStore(path);
  const delivered = Promise.withResolvers<unknown>();
  const served = await createSqliteWaker(store).serve(async (wake) => delivered.resolve(wake));
  expect(await delivered.promise).toEqual({ run: { tenant: "t", runId: "r" }, why: "expiry", key: "k", notBefore: 1 });
  await served.close();
});

it("a waker needs a SQLite store", () => {
  expect(() => createSqliteWaker(createMemoryStore())).toThrow(
    expect.objectContaining({ code: "BELAY_STORE_MISMATCH", message: expect.stringContaining("memory") }),
  );
});
