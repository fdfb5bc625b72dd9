import { apply, type Entry, type RunState } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { SEMCONV_VERSION_DEFAULT, type SemconvVersion } from "./attributes.ts";
import { createCallSpans } from "./call-spans.ts";
import { createModelSpans } from "./model-spans.ts";
import { createRunSpan } from "./run-span.ts";
import type { SpanRecord } from "./span.ts";
import { createSpanBuilder } from "./span-builder.ts";

export interface SpanOptions {
  /** Whose entries these are; ids of spans are made from it. */
  readonly run: RunKey;
  /** Arguments, results and messages as attributes. Default false. */
  readonly capture?: boolean;
  /** Spans that are not closed yet, with the time of the last entry as their end. Default false. */
  readonly withOpen?: boolean;
  /** Who serves the model, as the conventions name providers (`aws.bedrock`). Default `belay`. */
  readonly provider?: string;
  /** Default `1.41`. */
  readonly semconv?: SemconvVersion;
}

/**
 * Makes the spans of a run from its journal, oldest first: a pure function, so a run can be exported while it goes,
 * when it has ended, or years later, and always as the same spans.
 *
 * `entries` are those of the run from its first one on. The tree is `invoke_agent` over `chat`, `compaction`,
 * `belay.authorize`, `belay.approval` and `execute_tool`, in the terms of the OpenTelemetry semantic conventions for
 * generative AI. Each call has exactly one `execute_tool` span, also one that was not run.
 */
export function spansOf(entries: readonly Entry[], options: SpanOptions): readonly SpanRecord[] {
  const { run, capture = false, withOpen = false, provider = "belay", semconv = SEMCONV_VERSION_DEFAULT } = options;
  const builder = createSpanBuilder(run, semconv);
  const runSpan = createRunSpan(builder, { run, capture, provider });
  const modelSpans = createModelSpans(builder, { capture, provider });
  const callSpans = createCallSpans(builder, { capture });
  let state: RunState | undefined;
  for (const [index, entry] of entries.entries()) {
    const placed = { ...entry, seq: index + 1 };
    const before = state;
    state = apply(before, entry);
    // The core refused the event, so it did not happen as far as the run is concerned.
    if (state === undefined || state === before) {
      continue;
    }
    runSpan.take(placed);
    modelSpans.take(placed);
    callSpans.take(placed, before, state);
    runSpan.end(placed, state);
  }
  const records = builder.records(state?.lastAt ?? 0);
  return withOpen ? records : records.filter(({ closedSeq }) => closedSeq !== undefined);
}
