import { connect } from "node:net";
import { DatabaseSync } from "node:sqlite";
import type { FreezePoint, Job, WorldRequest } from "../protocol.ts";
import { type Points, say } from "./points.ts";

type Ask = Omit<WorldRequest, "worker" | "op">;

/** The world as a process sees it, through a socket. */
export interface FarSide {
  act(ask: Ask): Promise<unknown>;
  lookup(ask: Ask): Promise<unknown>;
  read(what: string): Promise<unknown>;
  close(): void;
}

/** Stands still until somebody sends SIGCONT, as a process does whose machine sleeps. */
export function freeze(): void {
  say({ type: "frozen" });
  process.kill(process.pid, "SIGSTOP");
}

/** Connects to the world; `freezesAt` stops the process at one changing call. */
export async function connectFarSide({ port, worker, freezesAt, freezesCall }: Job, points: Points): Promise<FarSide> {
  const socket = connect(port, "127.0.0.1");
  await new Promise<void>((resolve, reject) => {
    socket.once("connect", resolve);
    socket.once("error", reject);
  });
  const open = new Map<number, (answer: unknown) => void>();
  let [next, text, hasFrozen] = [0, "", false];
  socket.setEncoding("utf8");
  socket.on("data", (chunk: string) => {
    const lines = `${text}${chunk}`.split("\n");
    text = lines.pop() ?? "";
    for (const line of lines) {
      const { id, answer } = JSON.parse(line) as { id: number; answer: unknown };
      open.get(id)?.(answer);
      open.delete(id);
    }
  });

  const send = (request: WorldRequest): Promise<unknown> =>
    new Promise((resolve) => {
      next += 1;
      open.set(next, resolve);
      socket.write(`${JSON.stringify({ id: next, request })}\n`);
    });

  const freezeOnce = (at: FreezePoint, callId: string): void => {
    if (freezesAt !== at || hasFrozen || (freezesCall !== undefined && freezesCall !== callId)) return;
    hasFrozen = true;
    freeze();
  };

  return {
    async act(ask) {
      const name = `${ask.tool} ${ask.what}`;
      points.hit("effect", `before ${name}`);
      freezeOnce("request", ask.callId);
      const isDeadly = points.isDeadly("effect", `middle of ${name}`);
      const answer = await send({ ...ask, op: "effect", worker, ...(isDeadly ? { kill: process.pid } : {}) });
      freezeOnce("answer", ask.callId);
      points.hit("effect", `after ${name}`);
      return answer;
    },
    lookup: (ask) => send({ ...ask, op: "lookup", worker }),
    read: (what) => send({ op: "read", tool: "read", key: "", callId: "", what, attempt: 1, worker }),
    close: () => socket.destroy(),
  };
}

/** The part of the world that is a database: rows appear in transactions, and nothing drops a repetition. */
export interface Shelf {
  readonly transaction: <Value>(work: () => Value) => Value;
  move(key: string, callId: string, what: string): void;
  find(key: string): string | undefined;
  close(): void;
}

export function openShelf(path: string, points: Points): Shelf {
  const database = new DatabaseSync(path, { timeout: 5000 });
  database.exec("PRAGMA journal_mode = WAL; CREATE TABLE IF NOT EXISTS moves (key TEXT, call_id TEXT, what TEXT)");
  return {
    transaction(work) {
      points.hit("effect", "before the transaction");
      database.exec("BEGIN IMMEDIATE");
      try {
        const value = work();
        points.hit("effect", "in the transaction");
        database.exec("COMMIT");
        points.hit("effect", "after the transaction");
        return value;
      } catch (error) {
        if (database.isTransaction) database.exec("ROLLBACK");
        throw error;
      }
    },
    move(key, callId, what) {
      database.prepare("INSERT INTO moves VALUES (?, ?, ?)").run(key, callId, what);
    },
    find: (key) => {
      const what = database.prepare("SELECT what FROM moves WHERE key = ?").get(key)?.["what"];
      return what === undefined ? undefined : String(what);
    },
    close: () => database.close(),
  };
}
