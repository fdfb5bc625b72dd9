import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { expect, it } from "vitest";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const CHILD = fileURLToPath(new URL("./children/without-package.ts", import.meta.url));

async function outcomesWithout(name: string, url: string): Promise<readonly string[]> {
  const { stdout } = await promisify(execFile)(process.execPath, ["--conditions=belay-source", CHILD, name, url]);
  return JSON.parse(stdout) as readonly string[];
}

const missing = (what: string, name: string): string =>
  `BELAY_PEER_MISSING: ${what} needs the package ${name}, which is not installed. Run: npm install ${name}`;

describeWithPostgres("a package that is not installed", () => {
  const used = useServer();

  it("pg-boss: the store works, and the waker says what to install at its first use", async () => {
    const waker = missing("A waker on PostgreSQL", "pg-boss");
    expect(await outcomesWithout("pg-boss", used.server.url)).toEqual(["ok", waker, waker]);
  });

  it("pg: both say so", async () => {
    const waker = missing("A waker on PostgreSQL", "pg");
    expect(await outcomesWithout("pg", used.server.url)).toEqual([
      missing("A store in PostgreSQL", "pg"),
      waker,
      waker,
    ]);
  });

  it("none: all is well", async () => {
    expect(await outcomesWithout("none", used.server.url)).toEqual(["ok", "ok", "ok"]);
  });
});
