import type { RunKey, Store, StoredEntry } from "../journal/index.ts";
import type { SemconvVersion } from "./attributes.ts";
import { createRestWatch, restingPoints, spansToExport } from "./export-points.ts";
import type { ExportResult, SpanExporter, SpanRecord } from "./span.ts";
import { spansOf } from "./spans-of.ts";

export interface TracerOptions {
  readonly store: Pick<Store, "read" | "subscribe">;
  readonly exporter: SpanExporter;
  /** Arguments, results and messages as attributes. Default: as the exporter is meant. */
  readonly capture?: boolean;
  /** Who serves the model, as the conventions name providers. */
  readonly provider?: string;
  readonly semconv?: SemconvVersion;
  /** Exports that may wait for the one under way; further ones are dropped and counted. Default 1,000. */
  readonly pendingMax?: number;
  /** Milliseconds after which an export counts as failed. Default 30,000. */
  readonly exportTimeoutMs?: number;
  /** Told of each export that failed or was dropped; the run knows nothing of it. */
  readonly onProblem?: (problem: TracerProblem) => void;
}

export interface TracerProblem {
  /** `dropped`: too many exports were waiting. `read_failed`: the store could not be read. */
  readonly kind: "export_failed" | "dropped" | "read_failed";
  readonly run: RunKey;
  /** Spans that did not arrive; 0 when they were never made. */
  readonly spans: number;
  readonly code: string;
}

export interface TracerCounts {
  readonly exportedSpans: number;
  readonly failedSpans: number;
  /** Exports that did not happen because too many were waiting or the store could not be read. */
  readonly droppedExports: number;
}

export interface Tracer extends AsyncDisposable {
  readonly counts: TracerCounts;
  /** Resolves when everything that was committed so far has been exported or given up. Never rejects. */
  flush(): Promise<void>;
  /** Stops listening, flushes, and closes the exporter. Close the tracer before its store. */
  close(): Promise<void>;
}

interface Pending {
  readonly run: RunKey;
  /** First and last entry of the commit that this process wrote. */
  readonly from: number;
  readonly to: number;
}

const PENDING_MAX = 1000;
const EXPORT_TIMEOUT_MS = 30_000;

/**
 * Exports the runs of a store while they go: what a run did up to a pause when it pauses, the rest when it ends.
 *
 * It works beside the run and can neither delay nor fail it. A lost export is not repeated; `spansOf` makes the same
 * spans from the journal at any later time.
 */
export function createTracer(options: TracerOptions): Tracer {
  const { store, exporter, pendingMax = PENDING_MAX } = options;
  const counts = { exportedSpans: 0, failedSpans: 0, droppedExports: 0 };
  const watch = createRestWatch();
  let waiting = 0;
  let tail: Promise<void> = Promise.resolve();

  function tell(problem: TracerProblem): void {
    try {
      options.onProblem?.(problem);
    } catch {
      // A hook that fails is its own problem.
    }
  }

  async function work(pending: Pending): Promise<void> {
    const { run } = pending;
    const spans = await spansFor(options, pending).catch(() => undefined);
    if (spans === undefined) {
      counts.droppedExports += 1;
      tell({ kind: "read_failed", run, spans: 0, code: "read_failed" });
    } else if (spans.length > 0) {
      const result = await exportInTime(exporter, spans, options.exportTimeoutMs ?? EXPORT_TIMEOUT_MS);
      if (result.status === "exported") {
        counts.exportedSpans += result.spans;
      } else {
        counts.exportedSpans += spans.length - result.spans;
        counts.failedSpans += result.spans;
        tell({ kind: "export_failed", run, spans: result.spans, code: result.code });
      }
    }
  }

  function take(run: RunKey, entries: readonly StoredEntry[]): void {
    const [first, last] = [entries[0], entries.at(-1)];
    if (first === undefined || last === undefined || !watch.mayRest(run, entries)) {
      return;
    }
    if (waiting >= pendingMax) {
      counts.droppedExports += 1;
      tell({ kind: "dropped", run, spans: 0, code: "too_many_waiting" });
      return;
    }
    waiting += 1;
    tail = tail
      .then(() => work({ run, from: first.seq, to: last.seq }))
      .finally(() => {
        waiting -= 1;
      });
  }

  const unsubscribe = store.subscribe(take);
  let closing: Promise<void> | undefined;
  const close = (): Promise<void> => {
    closing ??= (async () => {
      unsubscribe();
      await tail;
      await exporter.close().catch(() => undefined);
    })();
    return closing;
  };
  return {
    get counts() {
      return { ...counts };
    },
    flush: () => tail,
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function spansFor(options: TracerOptions, { run, from, to }: Pending): Promise<readonly SpanRecord[]> {
  const { store, exporter, provider, semconv, capture = exporter.capturesContent } = options;
  const entries = await store.read(run);
  const points = restingPoints(entries);
  // Most commits that may have brought a run to rest have not.
  if (!points.some((point) => point >= from && point <= to)) {
    return [];
  }
  const spans = spansOf(entries, {
    run,
    capture,
    ...(provider !== undefined && { provider }),
    ...(semconv !== undefined && { semconv }),
  });
  return spansToExport(spans, points, from, to);
}

async function exportInTime(
  exporter: SpanExporter,
  spans: readonly SpanRecord[],
  timeoutMs: number,
): Promise<ExportResult> {
  const failed = (code: string): ExportResult => ({ status: "failed", spans: spans.length, code });
  const { promise: late, resolve } = Promise.withResolvers<ExportResult>();
  const timer = setTimeout(() => resolve(failed("timeout")), timeoutMs);
  try {
    return await Promise.race([exporter.export(spans), late]);
  } catch {
    // Whatever an exporter throws may hold an address with a key in it.
    return failed("export_failed");
  } finally {
    clearTimeout(timer);
  }
}
