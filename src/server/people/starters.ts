import type { RunKey } from "../../journal/index.ts";
import type { ServerDatabase } from "./server-database.ts";

interface Starter {
  readonly kind: "person" | "agent";
  readonly id: string;
}

/**
 * Who started a run in the name of somebody else.
 *
 * The journal knows for whom a run works; that the same person may not approve what they asked for in a customer's name
 * is only known here.
 */
export interface Starters {
  /** Durable when it resolves; those of one turn of the event loop share one write. */
  remember(run: RunKey, starter: Starter): Promise<void>;
  of(run: RunKey): Starter | undefined;
}

export function createStarters(database: ServerDatabase): Starters {
  let waiting: { readonly run: RunKey; readonly starter: Starter }[] = [];
  let writing: Promise<void> | undefined;
  const write = (): void => {
    const batch = waiting;
    waiting = [];
    writing = undefined;
    database.transaction(() => {
      for (const { run, starter } of batch) {
        const sql = "INSERT OR IGNORE INTO starters (tenant, run_id, kind, person_id) VALUES (?, ?, ?, ?)";
        database.run(sql, run.tenant, run.runId, starter.kind, starter.id);
      }
    });
  };
  return {
    remember(run, starter) {
      waiting.push({ run, starter });
      writing ??= new Promise((resolve) => setImmediate(resolve)).then(write);
      return writing;
    },
    of({ tenant, runId }) {
      const row = database.get("SELECT * FROM starters WHERE tenant = ? AND run_id = ?", tenant, runId);
      return row === undefined
        ? undefined
        : { kind: row["kind"] === "agent" ? "agent" : "person", id: String(row["person_id"]) };
    },
  };
}
