import type { Harness } from "../../engine/index.ts";
import type { RunKey, Store, StoredEntry } from "../../journal/index.ts";
import { createDrafts, type Draft } from "./drafts.ts";

export interface LiveRunsOptions {
  /** Looks for what other processes wrote this often. Default 15,000: this process drives the runs. */
  readonly pollMs?: number;
  /** Told when a run could not go on. */
  readonly onError?: (run: RunKey, error: unknown) => void;
}

/** One reader's ear on a run. */
export interface RunWatch {
  /** Resolves when something was recorded since the last call, after `timeoutMs`, or when the reader is to stop. */
  next(timeoutMs: number): Promise<void>;
  close(): void;
}

/** Tells those who wait for a run that something was recorded; what it was they read from the store. */
export interface LiveRuns {
  /** Begins to listen at once, so that nothing recorded after this call is missed. */
  watch(run: RunKey, signal?: AbortSignal): RunWatch;
  /** Looks at once and after each entry, until something is found or the time is over. */
  when<Value>(run: RunKey, timeoutMs: number, look: () => Promise<Value | undefined>): Promise<Value | undefined>;
  /** Reads a run until `isEnough` says so or the time is over. */
  until(run: RunKey, timeoutMs: number, isEnough: (entries: readonly StoredEntry[]) => boolean): Promise<void>;
  /** Takes a piece of a reply that a model is writing (`onDelta` of `createHarness`) and tells who waits. */
  tell(run: RunKey, text: string): void;
  /** What has been written of the reply that is being written now. */
  draft(run: RunKey): Draft | undefined;
  /** Goes on with a run in the background. */
  drive(harness: Harness, run: RunKey): void;
  readonly pollMs: number;
  readonly isClosed: boolean;
  /** Readers at this moment. */
  readonly watchers: number;
  /** Wakes everybody who waits, and waits for what is driven here. */
  close(): Promise<void>;
}

const POLL_MS_DEFAULT = 15_000;
/** Whoever waits for an answer waits for seconds, so another process's writes are looked for more often. */
const UNTIL_POLL_MS = 250;

/** Creates the one listener of a store that all live views of this process share. */
export function createLiveRuns(store: Store, options: LiveRunsOptions = {}): LiveRuns {
  const pollMs = options.pollMs ?? POLL_MS_DEFAULT;
  const ears = new Map<string, Set<() => void>>();
  const driven = new Set<Promise<unknown>>();
  const stop = new AbortController();
  let watchers = 0;
  const drafts = createDrafts();
  const wakeAll = (run: RunKey): void => {
    for (const wake of ears.get(keyOf(run)) ?? []) wake();
  };
  const unsubscribe = store.subscribe((run, entries) => {
    drafts.settle(run, entries);
    wakeAll(run);
  });
  const watch: LiveRuns["watch"] = (run, signal) => {
    const key = keyOf(run);
    const ofRun = ears.get(key) ?? new Set();
    ears.set(key, ofRun);
    const ear = createEar([stop.signal, ...(signal === undefined ? [] : [signal])]);
    ofRun.add(ear.wake);
    watchers += 1;
    return {
      next: (timeoutMs) => ear.next(Math.min(timeoutMs, pollMs)),
      close() {
        if (!ofRun.delete(ear.wake)) return;
        ear.close();
        watchers -= 1;
        if (ofRun.size === 0 && ears.get(key) === ofRun) ears.delete(key);
      },
    };
  };
  const when: LiveRuns["when"] = async (run, timeoutMs, look) => {
    const ear = watch(run);
    try {
      for (const end = performance.now() + timeoutMs; ; ) {
        const found = await look();
        if (found !== undefined || performance.now() >= end || stop.signal.aborted) return found;
        await ear.next(Math.min(Math.max(1, end - performance.now()), UNTIL_POLL_MS));
      }
    } finally {
      ear.close();
    }
  };
  return {
    pollMs,
    watch,
    get isClosed() {
      return stop.signal.aborted;
    },
    get watchers() {
      return watchers;
    },
    when,
    tell(run, text) {
      drafts.add(run, text);
      wakeAll(run);
    },
    draft: drafts.of,
    async until(run, timeoutMs, isEnough) {
      const seen: StoredEntry[] = [];
      await when(run, timeoutMs, async () => {
        seen.push(...(await store.read(run, seen.length)));
        return isEnough(seen) || undefined;
      });
    },
    drive(harness, run) {
      const done: Promise<unknown> = harness
        .advance(run, { signal: stop.signal })
        .catch((error: unknown) => options.onError?.(run, error))
        .finally(() => driven.delete(done));
      driven.add(done);
    },
    async close() {
      stop.abort();
      unsubscribe();
      await Promise.all(driven);
    },
  };
}

/** Remembers a wake that came while nobody was waiting. */
function createEar(signals: readonly AbortSignal[]): {
  wake(): void;
  next(timeoutMs: number): Promise<void>;
  close(): void;
} {
  let isDirty = false;
  let release: (() => void) | undefined;
  const wake = (): void => {
    isDirty = true;
    release?.();
  };
  for (const signal of signals) signal.addEventListener("abort", wake, { once: true });
  return {
    wake,
    async next(timeoutMs) {
      if (!isDirty && !signals.some(({ aborted }) => aborted)) {
        await new Promise<void>((resolve) => {
          const timer = setTimeout(resolve, timeoutMs);
          release = () => {
            clearTimeout(timer);
            resolve();
          };
        });
        release = undefined;
      }
      isDirty = false;
    },
    close() {
      for (const signal of signals) signal.removeEventListener("abort", wake);
      release?.();
    },
  };
}

function keyOf({ tenant, runId }: RunKey): string {
  return `${tenant}:${runId}`;
}
