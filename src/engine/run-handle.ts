import type { Principal } from "../core/index.ts";
import type { RunKey, StoredEntry } from "../journal/index.ts";
import type { ActiveRuns } from "./active-runs.ts";
import type { EngineContext } from "./context.ts";
import type { RunHandle, RunResult, StartOptions } from "./harness.ts";
import { createRunStream, type RunStream } from "./run-stream.ts";
import { startRun } from "./start.ts";

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
      const result = follow(context, active, cancel, input, { ...options, runId: run.runId }, stream).finally(() => {
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

async function follow(
  context: EngineContext,
  active: ActiveRuns,
  cancel: Cancel,
  input: string,
  options: StartOptions,
  stream: RunStream,
): Promise<RunResult> {
  const { signal, onDelta } = options;
  signal?.throwIfAborted();
  const run = await startRun(context, input, options);
  stream.push(await context.store.read(run));
  const onAbort = (): void => {
    // The cancellation is durable: another worker that drives the run sees it too.
    cancel(run, { kind: "system", id: "abort" }).catch((cause: unknown) =>
      context.alarm({ code: "LEASE_LOST", run, detail: "the abort could not be recorded", cause }),
    );
  };
  signal?.addEventListener("abort", onAbort, { once: true });
  try {
    return await active.advance(run, onDelta === undefined ? {} : { onDelta });
  } finally {
    signal?.removeEventListener("abort", onAbort);
  }
}
