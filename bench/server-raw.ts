/**
 * What the parts alone can do: one route of Hono and one row in a SQLite file for each request, in a transaction of its
 * own that is on the disk before the answer (`node server-raw.ts <folder>`).
 */
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { getRequestListener } from "@hono/node-server";
import { Hono } from "hono";

const database = new DatabaseSync(join(process.argv[2] ?? "", "raw.db"));
database.exec(
  "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; CREATE TABLE rows (id INTEGER PRIMARY KEY, text TEXT)",
);
const insert = database.prepare("INSERT INTO rows (text) VALUES (?)");
const app = new Hono();
app.post("/v1/runs", async (c) => {
  const body = await c.req.text();
  database.exec("BEGIN IMMEDIATE");
  insert.run(body);
  database.exec("COMMIT");
  return c.json({ length: body.length });
});
const server = createServer(getRequestListener(app.fetch, { overrideGlobalObjects: false }));
server.listen(0, "127.0.0.1", () => process.send?.({ port: (server.address() as AddressInfo).port }));
process.on("message", () => {
  const { user, system } = process.cpuUsage();
  process.send?.({ memoryMb: process.memoryUsage().rss / 1e6, cpuMs: (user + system) / 1000 });
});
process.on("disconnect", () => process.exit(0));
