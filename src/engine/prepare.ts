import { hash } from "node:crypto";
import { canonicalize, type JsonValue, type PreparedCall, type ToolError } from "../core/index.ts";
import type { RequestedCall } from "../model/index.ts";
import { type CheckedArgs, printable, readArguments } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";

/** Arguments longer than this are refused: they would be shown to people and kept for ever. */
const ARGUMENT_CHARACTERS_MAX = 32_768;

/**
 * Parses and checks what the model asked for, before any rule.
 *
 * A call that is wrong comes back with its `refusal`; the tool is never touched by it. Call ids are made here, from
 * the step and the position, because a model's own ids may repeat.
 */
export async function prepareCalls(
  context: EngineContext,
  step: number,
  offeredTools: readonly string[] | undefined,
  requested: readonly RequestedCall[],
): Promise<readonly PreparedCall[]> {
  const calls: PreparedCall[] = [];
  for (const [index, request] of requested.entries()) {
    calls.push(await prepareCall(context, `c${step}.${index + 1}`, offeredTools, request));
  }
  return calls;
}

async function prepareCall(
  context: EngineContext,
  callId: string,
  offeredTools: readonly string[] | undefined,
  request: RequestedCall,
): Promise<PreparedCall> {
  const name: unknown = request?.tool;
  const contract = typeof name === "string" ? context.contracts.get(name) : undefined;
  const tool = contract?.name ?? (typeof name === "string" ? printable(name, 64) : "(no name)");
  const effect = contract?.recovery === "read" ? "read" : "change";
  const read = boundedArguments(request);
  const args = read.ok ? read.args : null;
  const unread = read.ok ? {} : textHashOf(request);
  const base = { callId, tool, effect, ...unread, ...inspected(context, tool, args) } as const;
  if (contract === undefined) {
    return { ...base, args, refusal: refusal("unknown_tool", `unknown tool '${tool}'`) };
  }
  if (context.controls.guards.has("offered_tools") && offeredTools !== undefined && !offeredTools.includes(tool)) {
    return { ...base, args, refusal: refusal("tool_not_offered", `${tool} is not allowed for this task`) };
  }
  if (!read.ok) return { ...base, args, refusal: read.error };
  if (!context.controls.guards.has("strict_arguments")) return { ...base, args };
  const checked = await checkSafely(context, tool, args);
  if (checked.ok) return { ...base, args: inStoredOrder(checked.args) };
  const { details, ...error } = checked.error;
  return { ...base, args, refusal: details === undefined ? error : { ...error, details: inStoredOrder(details) } };
}

/** Tells calls apart whose arguments could not be read: two broken ones are not the same call. */
function textHashOf(request: RequestedCall): { readonly textHash?: string } {
  if (!hasArguments(request) || !("text" in request.args)) return {};
  return { textHash: hash("sha256", request.args.text).slice(0, 16) };
}

/** What the agent's own telemetry says about the arguments; it changes nothing, so its failure stops nothing. */
function inspected(context: EngineContext, tool: string, args: JsonValue): { readonly notes?: readonly JsonValue[] } {
  const { inspectArguments } = context.agent;
  if (inspectArguments === undefined) return {};
  try {
    const note = inspectArguments(tool, args);
    return note === undefined ? {} : { notes: [inStoredOrder(note)] };
  } catch {
    return { notes: [{ inspection: "failed" }] };
  }
}

/** Keys in the order in which the journal gives them back, so that a replayed run shows the model the same text. */
function inStoredOrder(value: JsonValue): JsonValue {
  const canonical = canonicalize(value);
  return canonical.ok ? (JSON.parse(canonical.text) as JsonValue) : null;
}

/** A check that throws or answers with junk refuses the call. */
async function checkSafely(context: EngineContext, tool: string, args: JsonValue): Promise<CheckedArgs> {
  try {
    const checked: unknown = await context.executor.check(tool, args);
    if (typeof checked === "object" && checked !== null && "ok" in checked) {
      if (checked.ok === true && "args" in checked && canonicalize(checked.args).ok) return checked as CheckedArgs;
      if (checked.ok === false && "error" in checked) return checked as CheckedArgs;
    }
  } catch (cause) {
    // Told like any other failed check; the exception's words are for the operator alone.
    context.alarm({ code: "TOOL_FAILED", run: { tenant: "", runId: "" }, detail: `the check of ${tool} threw`, cause });
  }
  return { ok: false, error: refusal("invalid_arguments", `the arguments of ${tool} could not be checked`) };
}

const NO_ARGUMENTS: CheckedArgs = {
  ok: false,
  error: refusal("invalid_json", "the call has no arguments that can be read"),
};

/** Whether a client gave arguments in one of the two forms; what it gave instead is nobody's business. */
function hasArguments(request: RequestedCall): boolean {
  const args: unknown = request?.args;
  if (typeof args !== "object" || args === null) return false;
  return "text" in args ? typeof args.text === "string" : "json" in args;
}

function boundedArguments(request: RequestedCall): CheckedArgs {
  const read = hasArguments(request) ? readArguments(request.args) : NO_ARGUMENTS;
  if (!read.ok) return read;
  const canonical = canonicalize(read.args);
  if (!canonical.ok) return { ok: false, error: refusal("invalid_json", `${canonical.path}: ${canonical.problem}`) };
  if (canonical.text.length <= ARGUMENT_CHARACTERS_MAX)
    return { ok: true, args: JSON.parse(canonical.text) as JsonValue };
  const message = `arguments of ${canonical.text.length} characters exceed the limit of ${ARGUMENT_CHARACTERS_MAX}`;
  return { ok: false, error: refusal("arguments_too_large", message) };
}

function refusal(code: string, message: string): ToolError {
  return { code, message, retryable: false };
}
