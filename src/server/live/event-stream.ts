import type { RunKey, Store, StoredEntry } from "../../journal/index.ts";
import { type Draft, isReplyOpen } from "./drafts.ts";
import type { LiveRuns } from "./live-runs.ts";

export interface EventStreamOptions {
  readonly store: Store;
  readonly live: LiveRuns;
  readonly run: RunKey;
  /** Entries after this sequence. */
  readonly after: number;
  readonly heartbeatMs: number;
  readonly signal: AbortSignal;
  /** Asked at each heartbeat: whoever lost access hears nothing more. */
  readonly isAllowed: () => boolean;
  readonly onEnd: () => void;
}

const PAGE_ENTRIES = 200;
const RETRY_MS = 2000;

/**
 * A run as server-sent events: each journal entry once, in order, with its sequence as id; and between them, without an
 * id, what a model writes (`delta`): where it begins in the reply and the piece itself, from 0 for whoever comes later.
 *
 * The journal is the queue, so a reader that was away misses nothing and a slow one costs no memory here. It ends after
 * the entry that ends the run; `run.followed` of a queued message still belongs to it.
 */
export function eventStream(options: EventStreamOptions): ReadableStream<Uint8Array> {
  const encoder = new TextEncoder();
  const gone = new AbortController();
  const events = eventsOf({ ...options, signal: AbortSignal.any([options.signal, gone.signal]) });
  return new ReadableStream<Uint8Array>(
    {
      async pull(controller) {
        const { value, done } = await events.next();
        if (done === true) controller.close();
        else controller.enqueue(encoder.encode(value));
      },
      async cancel() {
        gone.abort();
        await events.return(undefined);
      },
    },
    { highWaterMark: 1 },
  );
}

async function* eventsOf(options: EventStreamOptions): AsyncGenerator<string, undefined> {
  const { store, live, run, heartbeatMs, signal, isAllowed, onEnd } = options;
  const watch = live.watch(run, signal);
  let { after } = options;
  const deltaAfter = draftTeller(live, run);
  try {
    yield `retry: ${RETRY_MS}\n\n`;
    for (;;) {
      const entries = await store.read(run, after);
      for (let at = 0; at < entries.length; at += PAGE_ENTRIES) {
        yield entries
          .slice(at, at + PAGE_ENTRIES)
          .map(eventText)
          .join("");
      }
      after = entries.at(-1)?.seq ?? after;
      const delta = deltaAfter(entries);
      if (delta !== "") yield delta;
      if (signal.aborted || live.isClosed || (await hasEnded(store, run, after))) return;
      await watch.next(heartbeatMs);
      if (!isAllowed()) return;
      // A comment, so that proxies and dead connections are noticed.
      yield ":\n\n";
    }
  } finally {
    watch.close();
    onEnd();
  }
}

/** Ended, told to the end, and nothing follows it. */
async function hasEnded(store: Store, run: RunKey, after: number): Promise<boolean> {
  const row = await store.run(run);
  return row === undefined || (row.termination !== undefined && row.nextRunId === undefined && row.head <= after);
}

/** Makes what says, after each look at the journal, what is new of the reply that is being written; mostly nothing. */
function draftTeller(live: LiveRuns, run: RunKey): (entries: readonly StoredEntry[]) => string {
  let told: Draft = { reply: 0, text: "" };
  let isWriting = true;
  return (entries) => {
    isWriting = isReplyOpen(entries) ?? isWriting;
    const draft = isWriting ? live.draft(run) : undefined;
    if (draft === undefined) return "";
    const at = draft.reply === told.reply ? told.text.length : 0;
    const text = draft.text.slice(at);
    told = draft;
    return text === "" ? "" : `event: delta\ndata: ${JSON.stringify({ at, text })}\n\n`;
  };
}

function eventText({ seq, at, schema, event }: StoredEntry): string {
  // JSON has no line breaks of its own, so an event is one line of data.
  return `id: ${seq}\nevent: ${event.type}\ndata: ${JSON.stringify({ seq, at, schema, event })}\n\n`;
}
