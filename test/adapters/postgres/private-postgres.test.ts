import pg from "pg";
import { expect, it } from "vitest";
import { describeWithPostgres, startPostgres } from "./private-postgres.ts";

async function ask(url: string, sql: string): Promise<unknown> {
  const client = new pg.Client({ connectionString: url });
  client.on("error", () => undefined);
  await client.connect();
  try {
    return (await client.query(sql)).rows;
  } finally {
    await client.end();
  }
}

describeWithPostgres("a private server", () => {
  it("starts, keeps its data over stop and kill, and is gone afterwards", async () => {
    let url = "";
    {
      await using server = await startPostgres();
      url = server.url;
      await ask(url, "CREATE TABLE t AS SELECT 1 AS a");
      await server.stop();
      await expect(ask(url, "SELECT 1")).rejects.toThrow();
      await server.restart();
      await ask(url, "INSERT INTO t VALUES (2)");
      await server.kill();
      await expect(ask(url, "SELECT 1")).rejects.toThrow();
      await server.restart();
      expect(await ask(url, "SELECT a FROM t ORDER BY a")).toEqual([{ a: 1 }, { a: 2 }]);
    }
    await expect(ask(url, "SELECT 1")).rejects.toThrow();
  });
});
