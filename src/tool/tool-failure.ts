import type { JsonValue, ToolError } from "../core/index.ts";

const FAILURE: unique symbol = Symbol("belay.toolFailure");

/** An expected failure of a tool, as a value. */
export interface ToolFailure {
  readonly [FAILURE]: true;
  readonly error: ToolError;
}

/** Makes the value that a tool returns when it cannot do what was asked; the message is shown to the model. */
export function toolFailure(
  code: string,
  message: string,
  options: { readonly retryable?: boolean; readonly details?: JsonValue } = {},
): ToolFailure {
  const { retryable = false, details } = options;
  return { [FAILURE]: true, error: { code, message, retryable, ...(details === undefined ? {} : { details }) } };
}

export function isToolFailure(value: unknown): value is ToolFailure {
  return typeof value === "object" && value !== null && FAILURE in value;
}
