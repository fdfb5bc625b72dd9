import type { Entry, RunEvent } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { type AttributeNames, attributeNames, BELAY, type SemconvVersion } from "./attributes.ts";
import type { AttributeValue, SpanEvent, SpanRecord } from "./span.ts";
import { spanIdOf, traceIdOf } from "./span-id.ts";

/** Kinds of OpenInference. */
type SpanRole = "AGENT" | "LLM" | "TOOL" | "CHAIN";

/** A span that is being made. */
export interface Draft {
  readonly spanId: string;
  readonly parentSpanId?: string;
  readonly name: string;
  readonly kind: SpanRecord["kind"];
  readonly openedSeq: number;
  startMs: number;
  endMs?: number;
  closedSeq?: number;
  errorType?: string;
  readonly attributes: Record<string, AttributeValue>;
  readonly events: SpanEvent[];
}

export type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

/** An entry with its place in the journal of its run. */
export interface PlacedEntry extends Entry {
  readonly seq: number;
}

interface SpanToOpen {
  readonly name: string;
  readonly role: SpanRole;
  /** What tells two spans apart that one entry opens. */
  readonly subject: string;
  /** Undefined values are left out. */
  readonly attributes?: Readonly<Record<string, AttributeValue | undefined>>;
  /** Default the root. */
  readonly parent?: Draft;
}

/** The spans of one run in the making. */
export interface SpanBuilder {
  readonly names: AttributeNames;
  open(entry: PlacedEntry, span: SpanToOpen): Draft;
  /** Closes a span once; `errorType` makes it an error. */
  close(draft: Draft, entry: PlacedEntry, errorType?: string): void;
  records(lastAt: number): readonly SpanRecord[];
}

export function createSpanBuilder(run: RunKey, semconv: SemconvVersion): SpanBuilder {
  const names = attributeNames(semconv);
  const traceId = traceIdOf(run);
  const drafts: Draft[] = [];

  function record(draft: Draft, lastAt: number): SpanRecord {
    const { spanId, parentSpanId, name, kind, startMs, openedSeq, closedSeq, attributes, events, errorType } = draft;
    return {
      traceId,
      spanId,
      ...(parentSpanId !== undefined && { parentSpanId }),
      name,
      kind,
      startMs,
      endMs: Math.max(startMs, draft.endMs ?? lastAt),
      status: errorType === undefined ? "unset" : "error",
      attributes: errorType === undefined ? attributes : { ...attributes, [names.errorType]: errorType },
      events,
      openedSeq,
      ...(closedSeq !== undefined && { closedSeq }),
      semconv,
    };
  }

  return {
    names,
    open({ at, seq }, { name, role, subject, attributes = {}, parent }) {
      const parentSpanId = (parent ?? drafts[0])?.spanId;
      const draft: Draft = {
        spanId: spanIdOf(run, seq, subject),
        ...(parentSpanId !== undefined && { parentSpanId }),
        name,
        kind: role === "LLM" ? "client" : "internal",
        openedSeq: seq,
        startMs: at,
        attributes: { [BELAY.spanKind]: role },
        events: [],
      };
      setAttributes(draft, attributes);
      drafts.push(draft);
      return draft;
    },
    close(draft, { at, seq }, errorType) {
      if (draft.closedSeq === undefined) {
        draft.endMs = at;
        draft.closedSeq = seq;
        if (errorType !== undefined) {
          draft.errorType = errorType;
        }
      }
    },
    records: (lastAt) => drafts.map((draft) => record(draft, lastAt)),
  };
}

export function setAttributes(draft: Draft, attributes: Readonly<Record<string, AttributeValue | undefined>>): void {
  for (const [name, value] of Object.entries(attributes)) {
    if (value !== undefined) {
      draft.attributes[name] = value;
    }
  }
}
