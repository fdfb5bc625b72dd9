import { checkJsonValue, parseStrictJson, type StrictJsonFailure, type ToolError } from "../core/index.ts";
import type { CheckedArgs } from "./executor.ts";

/**
 * Reads arguments as a model sent them, before any schema: a text strictly, a parsed value by the same rules.
 *
 * A refusal has the code of the strict reader (`invalid_json`, `duplicate_key`, …) and where it went wrong.
 */
export function readArguments(args: { readonly text: string } | { readonly json: unknown }): CheckedArgs {
  const read = "text" in args ? parseStrictJson(args.text) : checkJsonValue(args.json);
  return read.ok ? { ok: true, args: read.value } : { ok: false, error: unreadableArguments(read) };
}

/** The error that tells a model why its arguments were not taken as JSON. */
export function unreadableArguments({ code, message, path }: StrictJsonFailure): ToolError {
  const hint = "Send the arguments again as one JSON object.";
  return { code, message, retryable: false, details: { path, problem: message, hint } };
}
