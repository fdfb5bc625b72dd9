import { execFile } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { promisify } from "node:util";
import { afterEach, beforeEach, describe, expect, it } from "vitest";
import { ageDays, remainingPaise } from "../../../apps/shop/world/order-table.ts";
import { openShopWorld } from "../../../apps/shop/world/shop-world.ts";

const NOW = Date.UTC(2026, 5, 15, 12);
let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), "belay-shop-"));
});
afterEach(() => rmSync(folder, { recursive: true }));

const EMPTY = { refunds: {}, status: {}, outbox: [], emails: 0 };

describe("a fresh shop", () => {
  it("has orders in every status, around every limit", () => {
    const world = openShopWorld(":memory:", { now: NOW });
    const orders = world.search({ query: "", limit: 100 });
    expect(orders.length).toBeGreaterThanOrEqual(30);
    expect(new Set(orders.map(({ status }) => status))).toEqual(
      new Set(["placed", "shipped", "delivered", "cancelled"]),
    );
    expect(orders.map((order) => ageDays(order, NOW))).toEqual(expect.arrayContaining([29, 30, 31]));
    expect(orders.map(({ totalPaise }) => totalPaise)).toEqual(
      expect.arrayContaining([150_000, 199_900, 200_000, 200_100, 400_000]),
    );
    expect(orders.some((order) => order.refundedPaise > 0 && remainingPaise(order) > 0)).toBe(true);
    expect(orders.some((order) => remainingPaise(order) === 0)).toBe(true);
    expect(world.snapshot()).toEqual(EMPTY);
    world.close();
  });

  it("writes only to addresses of a domain that is reserved for examples", () => {
    const world = openShopWorld(":memory:", { now: NOW });
    for (const { id } of world.search({ query: "", limit: 100 })) {
      expect(world.emailOf(id)).toMatch(/^[a-z]+\.[a-z]+@customers\.example$/);
    }
    world.close();
  });
});

describe("a shop in a file", () => {
  it("is seeded once and keeps what happened", () => {
    const path = join(folder, "shop.db");
    const first = openShopWorld(path, { now: NOW });
    expect(first.insertRefund({ orderId: "O-1001", amountPaise: 150_000, runId: "run_1", at: NOW })).toBe(true);
    expect(first.cancel("O-1003", { runId: "run_1", at: NOW })).toBe(true);
    first.close();
    const again = openShopWorld(path, { now: NOW + 1e9 });
    expect(again.snapshot()).toEqual({ ...EMPTY, refunds: { "O-1001": [150_000] }, status: { "O-1003": "cancelled" } });
    expect(again.order("O-1001")?.placedAt).toBeLessThan(NOW);
    again.close();
  });

  it.each(["missing", "empty"])("is not made anew when it must be there and is %s", (how) => {
    const path = join(folder, "shop.db");
    if (how === "empty") {
      writeFileSync(path, "");
    }
    expect(() => openShopWorld(path, { create: false })).toThrow(
      expect.objectContaining({ code: "BELAY_WORLD_INVALID", message: expect.stringContaining(path) }),
    );
    expect(existsSync(path)).toBe(how === "empty");
    rmSync(path, { force: true });
    openShopWorld(path).close();
    openShopWorld(path, { create: false }).close();
  });

  it("survives the loss of power: WAL with a full sync", () => {
    const path = join(folder, "shop.db");
    openShopWorld(path, { now: NOW }).close();
    const database = new DatabaseSync(path);
    expect(database.prepare("PRAGMA journal_mode").get()).toEqual({ journal_mode: "wal" });
    database.close();
  });

  it.each([
    ["no database", () => Buffer.from("this is no database, and it is longer than a header of SQLite would ever be")],
    [
      "a damaged shop",
      (whole: Buffer) => Buffer.concat([whole.subarray(0, 4096), Buffer.alloc(whole.length - 4096, 7)]),
    ],
    ["a cut shop", (whole: Buffer) => whole.subarray(0, 5000)],
  ])("is refused when it is %s, and left as it is", (_name, spoil) => {
    const path = join(folder, "shop.db");
    openShopWorld(path, { now: NOW }).close();
    writeFileSync(path, spoil(readFileSync(path)));
    const before = readFileSync(path);
    expect(() => openShopWorld(path)).toThrow(expect.objectContaining({ code: "BELAY_WORLD_INVALID" }));
    expect(readFileSync(path).equals(before)).toBe(true);
  });

  it("is refused when it belongs to another program or to a newer version", () => {
    const other = join(folder, "other.db");
    const database = new DatabaseSync(other);
    database.exec("CREATE TABLE notes (text TEXT)");
    database.close();
    expect(() => openShopWorld(other)).toThrow(/another program/);

    const newer = join(folder, "newer.db");
    openShopWorld(newer).close();
    const shop = new DatabaseSync(newer);
    shop.exec("PRAGMA user_version = 99");
    shop.close();
    expect(() => openShopWorld(newer)).toThrow(/schema 99 is newer/);
    expect(() => openShopWorld(join(folder, "missing", "shop.db"))).toThrow(/BELAY|cannot be used/);
  });

  it("says that another process holds it", () => {
    const path = join(folder, "shop.db");
    openShopWorld(path).close();
    const holder = new DatabaseSync(path);
    holder.exec("BEGIN EXCLUSIVE");
    expect(() => openShopWorld(path, { busyTimeoutMs: 1 })).toThrow(/Another process holds it/);
    holder.close();
    openShopWorld(path).close();
  });

  it("is created once when several processes open it at the same time", async () => {
    const path = join(folder, "shop.db");
    const module = new URL("../../../apps/shop/world/shop-world.ts", import.meta.url).href;
    const program = `import { openShopWorld } from ${JSON.stringify(module)}; openShopWorld(${JSON.stringify(path)}).close();`;
    const open = () =>
      promisify(execFile)(process.execPath, ["--conditions=belay-source", "--input-type=module", "--eval", program]);
    await Promise.all([open(), open(), open()]);
    const world = openShopWorld(path);
    expect(world.search({ query: "lamp", limit: 10 })).toHaveLength(1);
    world.close();
  });
});

describe("transactions", () => {
  it("take everything back when the work throws, and nothing when it does not", () => {
    const world = openShopWorld(":memory:", { now: NOW });
    const refund = (amountPaise: number) => world.insertRefund({ orderId: "O-1030", amountPaise, at: NOW });
    expect(() =>
      world.transaction(() => {
        refund(100);
        throw new Error("no");
      }),
    ).toThrow("no");
    expect(world.snapshot()).toEqual(EMPTY);
    expect(world.transaction(() => refund(200))).toBe(true);
    expect(world.snapshot().refunds).toEqual({ "O-1030": [200] });
    world.close();
  });

  it("take a nested call back alone", () => {
    const world = openShopWorld(":memory:", { now: NOW });
    const refund = (amountPaise: number) => world.insertRefund({ orderId: "O-1030", amountPaise, at: NOW });
    world.transaction(() => {
      refund(100);
      expect(() =>
        world.transaction(() => {
          refund(200);
          throw new Error("no");
        }),
      ).toThrow("no");
      world.transaction(() => refund(300));
    });
    expect(world.snapshot().refunds).toEqual({ "O-1030": [100, 300] });
    world.close();
  });

  it("refuse work that goes on later", () => {
    const world = openShopWorld(":memory:", { now: NOW });
    const late = async () => world.insertRefund({ orderId: "O-1030", amountPaise: 100, at: NOW });
    expect(() => world.transaction(late)).toThrow(TypeError);
    expect(world.snapshot()).toEqual(EMPTY);
    world.close();
  });
});

describe("writes state their preconditions again", () => {
  it("whatever was decided before", () => {
    const world = openShopWorld(":memory:", { now: NOW });
    const refund = (orderId: string, amountPaise: number) => world.insertRefund({ orderId, amountPaise, at: NOW });
    expect(refund("O-1015", 200_001)).toBe(false);
    expect(refund("O-1015", 200_000)).toBe(true);
    expect(refund("O-1015", 1)).toBe(false);
    expect(refund("O-1006", 1)).toBe(false);
    expect(refund("O-9999", 1)).toBe(false);
    expect(world.cancel("O-1002", { at: NOW })).toBe(false);
    expect(world.cancel("O-1003", { at: NOW })).toBe(true);
    expect(world.cancel("O-1003", { at: NOW })).toBe(false);
    expect(world.insertEmail({ orderId: "O-9999", subject: "a", body: "b", runId: "r", at: NOW })).toBeUndefined();
    world.close();
  });

  it("search takes every character as itself", () => {
    const world = openShopWorld(":memory:", { now: NOW });
    expect(world.search({ query: "%", limit: 10 })).toEqual([]);
    expect(world.search({ query: "'; DROP TABLE orders", limit: 10 })).toEqual([]);
    expect(world.search({ query: "WATER bottle", limit: 10 }).map(({ id }) => id)).toEqual(["O-1003"]);
    expect(world.search({ query: "", limit: 10, customerId: "C-01" }).map(({ id }) => id)).toEqual([
      "O-1017",
      "O-1001",
    ]);
    expect(world.search({ query: "", status: "cancelled", limit: 10 }).map(({ id }) => id)).toEqual(["O-1006"]);
    world.close();
  });
});
