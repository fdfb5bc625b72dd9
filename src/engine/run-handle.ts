import type { Principal } from "../core/index.ts";
import type { RunKey, StoredEntry } from "../journal/index.ts";
import type { ActiveRuns } from "./active-runs.ts";
import type { EngineContext } from "./context.ts";
import type { RunHandle, RunResult, StartOptions } from "./harness.ts";
import { createRunStream, type RunStream } from "./run-stream.ts";
import { loadStartParts, prepareStart } from "./start.ts";

type Cancel = (run: RunKey, by: Principal) => Promise<unknown>;

/** Handles of the runs that callers of this process follow. */
export interface RunStreams {
  readonly publish: (run: RunKey, entries: readonly StoredEntry[]) => void;
  run(context: EngineContext, active: ActiveRuns, cancel: Cancel, input: string, options: StartOptions): RunHandle;
}

export function createRunStreams(): RunStreams {
  const streams = new Map<string, Set<RunStream>>();
  return {
    publish({ tenant, runId }, entries) {
      for (const stream of streams.get(`${tenant}/${runId}`) ?? []) stream.push(entries);
    },
    run(context, active, cancel, input, options) {
      const run: RunKey = { tenant: options.tenant ?? "default", runId: options.runId ?? context.newId("run") };
      const key = `${run.tenant}/${run.runId}`;
      const stream = createRunStream();
      const ofRun = streams.get(key) ?? new Set();
      streams.set(key, ofRun.add(stream));
      const result = follow({ context, active, cancel, run, stream }, input, options).finally(() => {
        stream.end();
        ofRun.delete(stream);
        if (ofRun.size === 0) streams.delete(key);
      });
      // Who only iterates must not crash the process; who awaits still sees the error.
      result.catch(() => undefined);
      return { ...run, result, [Symbol.asyncIterator]: () => stream[Symbol.asyncIterator]() };
    },
  };
}

interface Followed {
  readonly context: EngineContext;
  readonly active: ActiveRuns;
  readonly cancel: Cancel;
  readonly run: RunKey;
  readonly stream: RunStream;
}

async function follow(followed: Followed, input: string, options: StartOptions): Promise<RunResult> {
  const { context, active, run, stream } = followed;
  const { signal, stop, onDelta } = options;
  signal?.throwIfAborted();
  const onAbort = (): void => {
    import("./people.ts")
      .then((people) => people.cancelRecorded(followed.cancel, run, stream))
      .catch((cause: unknown) => {
        context.alarm({ code: "LEASE_LOST", run, detail: "the abort could not be recorded", cause });
      });
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    const start = await prepareStart(context, input, options, run.runId);
    const how = { ...(onDelta === undefined ? {} : { onDelta }), ...(stop === undefined ? {} : { signal: stop }) };
    const result = start.isKnown ? undefined : await active.begin(run, start.events, how);
    if (result !== undefined) return result;
    await (await loadStartParts()).writeStart(context, start);
    stream.push(await context.store.read(run));
    return await active.advance(run, how);
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
