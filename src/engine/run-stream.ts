import type { StoredEntry } from "../journal/index.ts";

/** Entries of a run as they are committed; a slow reader loses nothing and a second reader starts from the first. */
export interface RunStream extends AsyncIterable<StoredEntry> {
  push(entries: readonly StoredEntry[]): void;
  end(): void;
}

export function createRunStream(): RunStream {
  const entries: StoredEntry[] = [];
  let isEnded = false;
  let wake: (() => void)[] = [];
  const wakeAll = (): void => {
    const waiting = wake;
    wake = [];
    for (const resolve of waiting) resolve();
  };
  return {
    push(added) {
      for (const entry of added) {
        // What was read at the start and what is published may overlap.
        if (entry.seq === entries.length + 1) entries.push(entry);
      }
      wakeAll();
    },
    end() {
      isEnded = true;
      wakeAll();
    },
    async *[Symbol.asyncIterator]() {
      for (let next = 0; ; ) {
        const entry = entries[next];
        if (entry !== undefined) {
          next += 1;
          yield entry;
        } else if (isEnded) {
          return;
        } else {
          await new Promise<void>((resolve) => wake.push(resolve));
        }
      }
    },
  };
}
