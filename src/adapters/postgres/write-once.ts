import { setTimeout as sleep } from "node:timers/promises";
import type { StoredRow } from "../../journal/index.ts";
import type { Database } from "./database.ts";
import { failureKind } from "./postgres-error.ts";
import type { Session } from "./session.ts";

const TRIES_MAX = 5;
const PAUSE_MS = 40;

/** A small write that may be done twice without harm: tried again after a deadlock or a lost connection. */
export function writeOnce<Value>(database: Database, work: (session: Session) => Promise<Value>): Promise<Value> {
  return untilDone(database, () =>
    database.attempt(undefined, async (session) => ({ value: await work(session), keep: true })),
  );
}

/** The same for one statement, which needs no BEGIN and no COMMIT. */
export function writeSingle(
  database: Database,
  sql: string,
  ...values: readonly unknown[]
): Promise<readonly StoredRow[]> {
  return untilDone(database, () => database.single(sql, ...values));
}

async function untilDone<Value>(database: Database, write: () => Promise<Value>): Promise<Value> {
  database.open();
  for (let tries = 1; ; tries += 1) {
    try {
      return await write();
    } catch (error) {
      if (failureKind(error) === "final" || tries >= TRIES_MAX) {
        throw database.translate(error);
      }
    }
    await sleep(PAUSE_MS * tries * (0.5 + Math.random()));
  }
}
