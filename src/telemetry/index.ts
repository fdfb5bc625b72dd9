export {
  type AttributeNames,
  attributeNames,
  BELAY as BELAY_ATTRIBUTES,
  SEMCONV_VERSION_DEFAULT,
  SEMCONV_VERSIONS,
  type SemconvVersion,
  schemaUrlOf,
} from "./attributes.ts";
export { type ConsoleExporterOptions, createConsoleExporter } from "./console-exporter.ts";
export type { Disposition } from "./disposition.ts";
export { createMemoryExporter, type MemoryExporter } from "./memory-exporter.ts";
export { addMetrics, type Counts, metricsOf, type RunMetrics } from "./metrics.ts";
export { createOtlpExporter, type OtlpExporterOptions } from "./otlp-exporter.ts";
export { type RunReport, reportFromRun, reportFromSpans } from "./report.ts";
export type { Attributes, AttributeValue, ExportResult, SpanEvent, SpanExporter, SpanRecord } from "./span.ts";
export { spanIdOf, traceIdOf } from "./span-id.ts";
export { type SpanOptions, spansOf } from "./spans-of.ts";
export { createTracer, type Tracer, type TracerCounts, type TracerOptions, type TracerProblem } from "./tracer.ts";
export { type TreeOptions, treeLines } from "./tree.ts";
