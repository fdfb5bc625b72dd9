import type { HrTime } from "@opentelemetry/api";
import type { ReadableSpan } from "@opentelemetry/sdk-trace";
import { schemaUrlOf } from "./attributes.ts";
import type { Attributes, SpanRecord } from "./span.ts";

/** Numbers of the enumerations of `@opentelemetry/api`, which is not loaded for them. */
const KINDS: Readonly<Record<SpanRecord["kind"], ReadableSpan["kind"]>> = { internal: 0, client: 2 };
const STATUSES: Readonly<Record<SpanRecord["status"], ReadableSpan["status"]>> = {
  unset: { code: 0 },
  error: { code: 2 },
};
const SAMPLED = 1;

/** Makes the span of the OpenTelemetry SDK that its exporters take. */
export function readableSpan(span: SpanRecord, resource: ReadableSpan["resource"]): ReadableSpan {
  const { traceId, spanId, parentSpanId, startMs, endMs, semconv } = span;
  const context = (id: string) => ({ traceId, spanId: id, traceFlags: SAMPLED });
  return {
    name: span.name,
    kind: KINDS[span.kind],
    spanContext: () => context(spanId),
    ...(parentSpanId !== undefined && { parentSpanContext: context(parentSpanId) }),
    startTime: hrTime(startMs),
    endTime: hrTime(endMs),
    duration: hrTime(endMs - startMs),
    status: STATUSES[span.status],
    attributes: mutable(span.attributes),
    links: [],
    events: span.events.map(({ name, at, attributes }) => ({
      name,
      time: hrTime(at),
      attributes: mutable(attributes),
      droppedAttributesCount: 0,
    })),
    ended: span.closedSeq !== undefined,
    resource,
    instrumentationScope: { name: "belay-harness", schemaUrl: schemaUrlOf(semconv) },
    droppedAttributesCount: 0,
    droppedEventsCount: 0,
    droppedLinksCount: 0,
  };
}

/** A resource that is complete from the start; the SDK's own needs a package of its own. */
export function plainResource(attributes: Attributes): ReadableSpan["resource"] {
  const own = mutable(attributes);
  return {
    attributes: own,
    merge: (other) => plainResource({ ...attributes, ...(other?.attributes as Attributes | undefined) }),
    getRawAttributes: () => Object.entries(own),
  };
}

function mutable(attributes: Attributes): Record<string, string | number | boolean | string[]> {
  const entries = Object.entries(attributes).map(([name, value]) => {
    return [name, typeof value === "object" ? [...value] : value] as const;
  });
  return Object.fromEntries(entries);
}

/** Seconds and nanoseconds. */
function hrTime(ms: number): HrTime {
  const seconds = Math.floor(ms / 1000);
  return [seconds, Math.round((ms - seconds * 1000) * 1e6)];
}
