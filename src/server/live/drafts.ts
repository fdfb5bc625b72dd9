import type { RunKey, StoredEntry } from "../../journal/index.ts";

/** What a model has written of the reply that it is writing. */
export interface Draft {
  /** Another reply has another number. */
  readonly reply: number;
  readonly text: string;
}

/** The replies that are being written in this process. They are shown to those who wait, and recorded nowhere. */
export interface Drafts {
  add(run: RunKey, text: string): void;
  of(run: RunKey): Draft | undefined;
  /** Forgets a draft whose reply has been recorded, has failed or is asked for again. */
  settle(run: RunKey, entries: readonly StoredEntry[]): void;
}

/** What is longer is only shown whole, once it is recorded. */
const CHARACTERS_MAX = 32_768;
const CLOSING: ReadonlySet<string> = new Set(["model.replied", "model.failed", "run.ended"]);

export function createDrafts(): Drafts {
  const drafts = new Map<string, Draft>();
  let replies = 0;
  return {
    add(run, text) {
      const key = keyOf(run);
      const known = drafts.get(key);
      if (known === undefined) replies += 1;
      const { reply, text: before } = known ?? { reply: replies, text: "" };
      drafts.set(key, { reply, text: `${before}${text}`.slice(0, CHARACTERS_MAX) });
    },
    of: (run) => drafts.get(keyOf(run)),
    settle(run, entries) {
      if (drafts.size > 0 && isReplyOpen(entries) !== undefined) drafts.delete(keyOf(run));
    },
  };
}

/** Whether a reply is being waited for after these entries; undefined when they say nothing about it. */
export function isReplyOpen(entries: readonly StoredEntry[]): boolean | undefined {
  const last = entries.findLast(({ event: { type } }) => type === "model.requested" || CLOSING.has(type));
  return last && last.event.type === "model.requested";
}

function keyOf({ tenant, runId }: RunKey): string {
  return `${tenant}:${runId}`;
}
