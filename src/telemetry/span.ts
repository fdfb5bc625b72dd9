import type { SemconvVersion } from "./attributes.ts";

export type AttributeValue = string | number | boolean | readonly string[];

export type Attributes = Readonly<Record<string, AttributeValue>>;

/** Something that happened at one moment of a span. */
export interface SpanEvent {
  readonly name: string;
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly attributes: Attributes;
}

/**
 * One span, made from the journal of one run.
 *
 * Ids depend on nothing but the run and the entry that opened the span, so that exporting a run twice gives the same
 * spans. Times are milliseconds since the epoch.
 */
export interface SpanRecord {
  /** 32 hex digits, the same for every span of a run, also after a pause and in another process. */
  readonly traceId: string;
  /** 16 hex digits. */
  readonly spanId: string;
  /** Absent for the root. */
  readonly parentSpanId?: string;
  readonly name: string;
  /** `client`: the other side of the span is outside the process, as a model is. */
  readonly kind: "internal" | "client";
  readonly startMs: number;
  readonly endMs: number;
  readonly status: "unset" | "error";
  readonly attributes: Attributes;
  readonly events: readonly SpanEvent[];
  /** Place in the journal of the entry that opened the span. */
  readonly openedSeq: number;
  /** Place of the entry that closed it; absent while it is open, and then `endMs` is the time of the last entry. */
  readonly closedSeq?: number;
  /** Conventions that the attribute names follow. */
  readonly semconv: SemconvVersion;
}

/** What came of one export. `code` is a stable word and never the text of an exception. */
export type ExportResult =
  | { readonly status: "exported"; readonly spans: number }
  | { readonly status: "failed"; readonly spans: number; readonly code: string };

/** Where spans go. */
export interface SpanExporter {
  readonly name: string;
  /** Whether arguments, results and messages are meant for it when nobody says so. */
  readonly capturesContent: boolean;
  /** `spans` counts those that arrived, or those that did not. A rejection counts as a failure. */
  export(spans: readonly SpanRecord[]): Promise<ExportResult>;
  close(): Promise<void>;
}
