import type { JournalLine, RunKey, StoredEntry } from "./store.ts";
import { decodeLine } from "./stored-entry.ts";

type Listener = (run: RunKey, entries: readonly StoredEntry[]) => void;

export interface Listeners {
  add(listener: Listener): () => void;
  notify(run: RunKey, lines: readonly JournalLine[]): void;
}

/** Live views of a store. Each listener gets its own copy, and none can disturb a commit. */
export function createListeners(): Listeners {
  const listeners = new Set<{ readonly call: Listener }>();
  return {
    add: (call) => {
      const listener = { call };
      listeners.add(listener);
      return () => {
        listeners.delete(listener);
      };
    },
    notify: (run, lines) => {
      for (const { call } of [...listeners]) {
        try {
          call({ ...run }, lines.map(decodeLine));
        } catch {
          // The commit has happened and its writer must hear so; a broken view is the view's own problem.
        }
      }
    },
  };
}
