import { writeSync } from "node:fs";
import { DatabaseSync, type StatementSync } from "node:sqlite";
import type { Store } from "../../../src/index.ts";
import type { Job, Line, PointKind } from "../protocol.ts";

/** Synchronous: what was said is out before the process can die. */
export function say(line: Line): void {
  writeSync(1, `${JSON.stringify(line)}\n`);
}

/** Counts the places at which this process can die, and dies at the one it was told. */
export interface Points {
  readonly count: number;
  hit(kind: PointKind, name: string): void;
  /** Counts a point that somebody else makes deadly; `true` when it is the one. */
  isDeadly(kind: PointKind, name: string): boolean;
}

export function createPoints({ dieAt, diesAt, kinds }: Job): Points {
  let count = 0;
  const isDeadly = (kind: PointKind, name: string): boolean => {
    if (!kinds.includes(kind)) return false;
    count += 1;
    const full = `${kind} ${name}`;
    if (count !== dieAt && (diesAt === undefined || !full.startsWith(diesAt))) return false;
    say({ type: "point", name: full });
    return true;
  };
  return {
    get count() {
      return count;
    },
    isDeadly,
    hit(kind, name) {
      if (isDeadly(kind, name)) process.kill(process.pid, "SIGKILL");
    },
  };
}

export interface Watched {
  synchronous(): number;
  /** What is being committed, for the points inside of SQLite. */
  readonly names: string[];
}

/** Puts a point before and after each COMMIT that SQLite is given for the journal, and looks how durable it is. */
export function watchCommits(points: Points, onInside: (name: string) => void): Watched {
  const names: string[] = [];
  let synchronous = 0;
  const { prepare } = DatabaseSync.prototype;
  DatabaseSync.prototype.prepare = function prepared(this: DatabaseSync, sql: string): StatementSync {
    const statement = prepare.call(this, sql);
    if (sql !== "COMMIT") return statement;
    const run = (): ReturnType<StatementSync["run"]> => {
      const name = names.join(", ");
      if (name !== "") points.hit("inside", name);
      onInside(name);
      const result = statement.run();
      synchronous = Number(prepare.call(this, "PRAGMA synchronous").get()?.["synchronous"]);
      if (name !== "") points.hit("after", name);
      return result;
    };
    return new Proxy(statement, {
      get: (target, property) => (property === "run" ? run : Reflect.get(target, property, target)),
    });
  };
  return { names, synchronous: () => synchronous };
}

/** The store with a point before each commit and one after its answer, and with every answer told. */
export function watchStore(store: Store, points: Points, watched: Watched, onCommit: Store["commit"]): Store {
  return {
    ...store,
    async commit(commit) {
      const name = commit.entries.map(({ event }) => event.type).join("+");
      points.hit("before", name);
      watched.names.push(name);
      const result = await onCommit(commit);
      watched.names.splice(watched.names.indexOf(name), 1);
      if (result.status === "committed") {
        say({ type: "acknowledged", run: commit.run, head: commit.head, entries: commit.entries });
      }
      points.hit("acknowledged", name);
      return result;
    },
  };
}
