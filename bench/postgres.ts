/**
 * `node bench/postgres.ts [seconds]` after a build: commits per second to a private PostgreSQL server, with more and
 * more writers at once, beside what the server does with bare inserts over as many connections.
 */
import type { Store } from "belay-harness";
import { createPostgresStore } from "belay-harness/postgres";
import pg from "pg";
import { startPostgres } from "../test/adapters/postgres/postgres-server.ts";
import { STARTED } from "./store.ts";
import { line } from "./support.ts";

const WIDTHS = [4, 16, 48];
const ROUNDS = 3;

/** Lets `width` writers work for a while; returns how often they did, each second. */
async function perSecond(seconds: number, width: number, once: (writer: number) => Promise<unknown>): Promise<number> {
  let done = 0;
  const start = performance.now();
  const end = start + seconds * 1000;
  const write = async (writer: number): Promise<void> => {
    while (performance.now() < end) {
      await once(writer);
      done += 1;
    }
  };
  await Promise.all(Array.from({ length: width }, (_, writer) => write(writer)));
  return (done * 1000) / (performance.now() - start);
}

function median(values: readonly number[]): number {
  return values.toSorted((one, other) => one - other)[Math.floor(values.length / 2)] ?? Number.NaN;
}

async function bareInserts(url: string, seconds: number, width: number): Promise<number> {
  const pool = new pg.Pool({ connectionString: url, max: width });
  const clients = await Promise.all(Array.from({ length: width }, () => pool.connect()));
  const text = JSON.stringify(STARTED);
  const table = "CREATE TABLE bare (id bigserial PRIMARY KEY, event text NOT NULL)";
  await clients[0]?.query(`DROP TABLE IF EXISTS bare; ${table}`);
  const rate = await perSecond(seconds, width, async (writer) => {
    const client = clients[writer];
    await client?.query("BEGIN");
    await client?.query({ name: "insert", text: "INSERT INTO bare (event) VALUES ($1)", values: [text] });
    await client?.query("COMMIT");
  });
  for (const client of clients) client.release();
  await pool.end();
  return rate;
}

let runs = 0;

async function storeCommits(store: Store, seconds: number, width: number): Promise<number> {
  const rate = await perSecond(seconds, width, () => {
    runs += 1;
    return store.commit({ run: { tenant: "default", runId: `r${runs}` }, head: 0, entries: [STARTED] });
  });
  // What was committed counts only when it has its record.
  await store.audit.size();
  return rate;
}

export async function benchPostgres(seconds = 3): Promise<void> {
  await using server = await startPostgres();
  for (const width of WIDTHS) {
    await using store = await createPostgresStore({ connectionString: server.url, schema: `w${width}`, max: width });
    await storeCommits(store, seconds / 3, width);
    const bare: number[] = [];
    const commits: number[] = [];
    // In turns, so that whatever else the machine does hits both.
    for (let round = 0; round < ROUNDS; round += 1) {
      bare.push(await bareInserts(server.url, seconds / ROUNDS, width));
      commits.push(await storeCommits(store, seconds / ROUNDS, width));
    }
    const ratio = `${(median(commits) / median(bare)).toFixed(2)} × bare`;
    line(`PostgreSQL, ${width} writers, bare begin, insert and commit`, `${median(bare).toFixed(0)} /s`);
    line(`PostgreSQL, ${width} writers, commit with audit`, `${median(commits).toFixed(0)} /s`, ratio);
  }
}

if (process.argv[1] === import.meta.filename) await benchPostgres(Number(process.argv[2] ?? 3));
