import type { JsonValue } from "../core/index.ts";

export interface FilterContext {
  readonly tool: string;
  readonly callId: string;
  readonly isError: boolean;
  readonly untrusted: boolean;
}

/** What a filter made of a result; a note is recorded with the call and never shown to the model. */
export interface Filtered {
  readonly value: JsonValue;
  readonly note?: JsonValue;
}

/** Named code that changes what comes back from a tool before the model sees it. The stored result stays whole. */
export interface Filter {
  readonly id: string;
  apply(value: JsonValue, context: FilterContext): Filtered;
}
