import type { Entry } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { type SpanExporter, spansOf } from "../telemetry/index.ts";
import type { Output } from "./output.ts";

/**
 * Sends the closed spans of a run to an OTLP receiver, without any content, and resolves to the exit code.
 *
 * Sending them again gives the receiver the same spans.
 */
export async function sendTrace(
  exporter: SpanExporter,
  run: RunKey,
  entries: readonly Entry[],
  output: Output,
): Promise<number> {
  const all = spansOf(entries, { run, withOpen: true });
  const spans = all.filter(({ closedSeq }) => closedSeq !== undefined);
  const result = await exporter.export(spans);
  if (result.status === "failed") {
    output.progress(`${result.spans} of ${spans.length} spans of run ${run.runId} were not taken (${result.code})`);
    return 1;
  }
  const open = all.length - spans.length;
  const left = open === 0 ? "" : `; ${open} not closed yet, send the run again when it has ended`;
  output.line(`sent ${result.spans} spans, trace ${all[0]?.traceId ?? ""}${left}`);
  return 0;
}
