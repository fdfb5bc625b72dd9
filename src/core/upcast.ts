import type { JsonValue } from "./canonical-json.ts";

/** An event as JSON, in the shape of some schema number. */
export type EventJson = Readonly<Record<string, JsonValue>>;

/**
 * Brings an event from one schema number to the next.
 *
 * Pure, and it changes nothing that an audit record is made of: the record of the event in its new shape must be, byte
 * for byte, the one that was written when the event was.
 */
export type Upcaster = (event: EventJson) => EventJson;

/**
 * The whole chain: entry n - 1 brings schema n to n + 1. A new shape is a new entry at the end, and none is ever changed
 * or removed, because stored events are never rewritten.
 */
export const UPCASTERS: readonly Upcaster[] = [];

/** An event in today's shape; `schema` is that of the shape it is in. */
export function upcast(event: EventJson, schema: number, upcasters: readonly Upcaster[] = UPCASTERS): EventJson {
  return upcasters.slice(schema - 1).reduce((older, step) => step(older), event);
}
