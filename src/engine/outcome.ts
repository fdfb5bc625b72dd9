import { hash } from "node:crypto";
import { applyFilters } from "../context/index.ts";
import { type CallOutcome, canonicalize, type JsonValue, type RunEvent, type ToolError } from "../core/index.ts";
import type { ToolContract, ToolResult } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";
import type { Finished } from "./drive-state.ts";
import type { Session } from "./session.ts";

/** A result larger than this is kept beside the journal, by its hash. */
const INLINE_BYTES_MAX = 64 * 1024;
const MESSAGE_CHARACTERS_MAX = 2000;
const CODE_CHARACTERS_MAX = 100;
const DETAILS_CHARACTERS_MAX = 8000;
/** What the model sees of one result at most, whatever size cap an agent chose; an event holds 256 KiB. */
const VIEW_BYTES_MAX = 150 * 1024;

export interface Settlement {
  readonly event: Extract<RunEvent, { type: "call.settled" }>;
  readonly blobs?: ReadonlyMap<string, string>;
}

/** What a call that ended has to record. */
export function finishedBy({ event, blobs }: Settlement): Omit<Finished, "key"> {
  return blobs === undefined ? { events: [event] } : { events: [event], blobs };
}

/** Makes the record of a tool's result: filtered for the model, whole for the journal. */
export function settlementOf(
  context: EngineContext,
  session: Session,
  contract: ToolContract,
  callId: string,
  result: ToolResult,
  extra: { readonly attempt?: number; readonly durationMs: number },
): Settlement {
  if (!result.ok) return { event: { type: "call.settled", callId, outcome: failedOutcome(result.error), ...extra } };
  const { value } = result;
  const filtered = applyFilters(context.controls.filters, value, {
    tool: contract.name,
    callId,
    isError: false,
    untrusted: contract.untrusted,
  });
  if (filtered.failed) {
    context.alarm({
      code: "FILTER_FAILED",
      run: session.run,
      detail: `a filter failed on the result of call ${callId}`,
    });
  }
  const [text, fullView] = [textOf(value), textOf(filtered.view)];
  const viewText = Buffer.byteLength(fullView) <= VIEW_BYTES_MAX ? fullView : JSON.stringify(cutView(fullView));
  const stored = storedValue(text);
  const outcome: CallOutcome = {
    status: "ok",
    value: stored.value,
    ...(stored.blobs === undefined && viewText === text ? {} : { view: JSON.parse(viewText) }),
    ...(contract.untrusted && context.controls.guards.has("untrusted_wrapper") ? { untrusted: true } : {}),
  };
  const notes = filtered.notes.length === 0 ? {} : { notes: filtered.notes };
  return {
    event: { type: "call.settled", callId, outcome, ...extra, ...notes },
    ...(stored.blobs === undefined ? {} : { blobs: stored.blobs }),
  };
}

/** A value as the journal keeps it: inside the event, or beside it by its hash. `text` is its canonical JSON. */
export function storedValue(text: string): {
  readonly value: { json: JsonValue } | { blob: { sha256: string; bytes: number } };
  readonly blobs?: ReadonlyMap<string, string>;
} {
  // No text needs more than three bytes for a UTF-16 unit, so a short one is not measured.
  const bytes = text.length * 3 <= INLINE_BYTES_MAX ? 0 : Buffer.byteLength(text);
  if (bytes <= INLINE_BYTES_MAX) return { value: { json: JSON.parse(text) } };
  const sha256 = hash("sha256", text);
  return { value: { blob: { sha256, bytes } }, blobs: new Map([[sha256, text]]) };
}

/**
 * The one text of a value. What is kept in memory is read back from it, so that the order of keys, and with it the
 * prompt, is the same in this process and in one that replays the journal.
 */
function textOf(value: JsonValue): string {
  const canonical = canonicalize(value);
  return canonical.ok ? canonical.text : JSON.stringify(`(not JSON: ${canonical.problem})`);
}

function failedOutcome(error: ToolError): CallOutcome {
  const { code, message, retryable, details } = error;
  const text = details === undefined ? undefined : textOf(details);
  const kept =
    text === undefined
      ? {}
      : {
          details:
            text.length <= DETAILS_CHARACTERS_MAX
              ? (JSON.parse(text) as JsonValue)
              : `(${text.length} characters left out)`,
        };
  return {
    status: "failed",
    error: {
      code: cut(code, CODE_CHARACTERS_MAX) || "failed",
      message: cut(message, MESSAGE_CHARACTERS_MAX),
      retryable: retryable === true,
      ...kept,
    },
  };
}

function cutView(text: string): string {
  // Six bytes is the longest that JSON writes for one UTF-16 unit.
  return `${text.slice(0, Math.floor(VIEW_BYTES_MAX / 6)).toWellFormed()}… (${text.length} characters in all)`;
}

/** Text that the journal can hold, whatever a tool gave for it. */
function cut(text: unknown, max: number): string {
  if (typeof text !== "string") return "";
  return (text.length <= max ? text : `${text.slice(0, max)}…`).toWellFormed();
}
