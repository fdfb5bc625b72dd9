import type { CallState, FormatToolError, JsonValue } from "belay-harness";
import { spacedJson } from "../json-text.ts";
import { BLOCKED_BY_GUARD, INVALID_ARGUMENTS, stockroomCode } from "../tool-errors.ts";
import { guardOf } from "./guard-of.ts";

/** One call of a run, with the fields of the source. */
export interface CallRecord {
  readonly step: number;
  readonly name: string;
  readonly arguments: JsonValue;
  /** The tool ran or may have run, whatever came of it. */
  readonly executed: boolean;
  /** Why the arguments do not fit, for a call that was never made. */
  readonly validationError: string | null;
  readonly errorCode: string | null;
  /** Name of the run guard. */
  readonly blockedBy: string | null;
  /** What the model was told, as JSON. */
  readonly resultContent: string;
  readonly isError: boolean;
  readonly payloadChars: number;
}

const plainError: FormatToolError = ({ code, message }) => ({ error: stockroomCode(code), message });

/** Reads the record of one call from its state; a call that is still open has an empty result. */
export function callRecord(
  { call, step, outcome, decision }: CallState,
  format: FormatToolError = plainError,
): CallRecord {
  const failure = outcome === undefined || outcome.status === "ok" ? undefined : outcome;
  const errorCode = failure === undefined ? null : stockroomCode(failure.error.code);
  const resultContent = outcome === undefined ? "" : spacedJson(shown(call.tool, outcome, format));
  return {
    step,
    name: call.tool,
    arguments: call.args,
    executed: outcome?.status === "ok" || outcome?.status === "failed" || outcome?.status === "unknown",
    validationError: errorCode === INVALID_ARGUMENTS ? (failure?.error.message ?? null) : null,
    errorCode,
    blockedBy: errorCode === BLOCKED_BY_GUARD ? (guardOf(decision) ?? null) : null,
    resultContent,
    isError: failure !== undefined,
    payloadChars: resultContent.length,
  };
}

/** A named argument of a call. */
export function fieldOf(args: JsonValue, name: string): JsonValue | undefined {
  return typeof args === "object" && args !== null && !Array.isArray(args) && Object.hasOwn(args, name)
    ? (args as { readonly [key: string]: JsonValue })[name]
    : undefined;
}

function shown(tool: string, outcome: NonNullable<CallState["outcome"]>, format: FormatToolError): JsonValue {
  if (outcome.view !== undefined) {
    return outcome.view;
  }
  if (outcome.status !== "ok") {
    return format(outcome.error, { tool, status: outcome.status });
  }
  const { json, blob } = outcome.value;
  return json ?? (blob === undefined ? null : { blob: `sha256:${blob.sha256}`, bytes: blob.bytes });
}
