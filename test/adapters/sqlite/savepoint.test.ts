import { DatabaseSync } from "node:sqlite";
import { expect, it } from "vitest";
import { withSavepoint } from "../../../src/adapters/sqlite/index.ts";

function database() {
  const opened = new DatabaseSync(":memory:");
  opened.exec("CREATE TABLE t (n INTEGER UNIQUE)");
  return {
    opened,
    add: (n: number) => opened.prepare("INSERT INTO t VALUES (?)").run(n),
    rows: () =>
      opened
        .prepare("SELECT n FROM t ORDER BY n")
        .all()
        .map((row) => row["n"]),
  };
}

it("keeps what the work wrote, and takes it back when the work throws", () => {
  const { opened, add, rows } = database();
  expect(
    withSavepoint(opened, "first", () => {
      add(1);
      return "kept";
    }),
  ).toBe("kept");
  const failing = () =>
    withSavepoint(opened, "second", () => {
      add(2);
      throw new Error("stop");
    });
  expect(failing).toThrow("stop");
  expect(() =>
    withSavepoint(opened, "third", () => {
      add(3);
      add(1);
    }),
  ).toThrow(/UNIQUE/);
  expect(rows()).toEqual([1]);
  expect(opened.isTransaction).toBe(false);
});

it("nests, under any name, and leaves an outer transaction to its owner", () => {
  const { opened, add, rows } = database();
  opened.exec("BEGIN");
  withSavepoint(opened, 'odd "name"; DROP TABLE t', () => {
    add(1);
    expect(() =>
      withSavepoint(opened, 'odd "name"; DROP TABLE t', () => {
        add(2);
        throw new Error("inner");
      }),
    ).toThrow("inner");
    add(3);
  });
  expect(opened.isTransaction).toBe(true);
  expect(rows()).toEqual([1, 3]);
  opened.exec("ROLLBACK");
  expect(rows()).toEqual([]);
});

it("refuses work that would hold the connection over an await", () => {
  const { opened, add, rows } = database();
  expect(() => withSavepoint(opened, "later", async () => void add(1))).toThrow(
    expect.objectContaining({ code: "BELAY_TRANSACTION_ASYNC" }),
  );
  expect(rows()).toEqual([]);
  expect(opened.isTransaction).toBe(false);
});
