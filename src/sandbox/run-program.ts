import type { QuickJSContext, QuickJSHandle, QuickJSRuntime, QuickJSWASMModule } from "quickjs-emscripten";
import { printable } from "../core/index.ts";
import type { SandboxLimits } from "./limits.ts";
import { failure, type ProgramOutcome, type SandboxFailure } from "./outcome.ts";

export interface Program {
  readonly code: string;
  /** JSON text that the program sees as the global `input`. */
  readonly inputText?: string;
}

export interface ProgramRun {
  readonly outcome: ProgramOutcome;
  /** The interpreter must not be used again. */
  readonly isSpoiled: boolean;
}

interface Session {
  readonly runtime: QuickJSRuntime;
  readonly context: QuickJSContext;
  readonly limits: SandboxLimits;
  readonly seen: { isInterrupted: boolean; hasImported: boolean };
}

/** Jobs between two looks at the clock; a chain of short jobs never asks the interrupt handler. */
const JOBS_AT_ONCE = 64;
const MESSAGE_CHARACTERS_MAX = 300;

// Taken before the program can change the built-ins. Numbers that JSON turns into null would change a result in silence.
const JSON_FUNCTIONS = `(() => {
  const { parse, stringify } = JSON, { isFinite } = Number, Refusal = TypeError;
  const refuse = (key, value) => {
    if (typeof value === "number" && !isFinite(value)) throw new Refusal("a number that is not finite");
    return value;
  };
  return { parse, stringify: (value) => stringify(value, refuse) };
})()`;

/**
 * Runs a program in a runtime of its own and gives its last value, or what its promise settles to, as JSON text.
 *
 * Throws when the interpreter itself breaks; the module must not be used again after that.
 */
export function runProgram(module: QuickJSWASMModule, program: Program, limits: SandboxLimits): ProgramRun {
  const seen = { isInterrupted: false, hasImported: false };
  const deadline = performance.now() + limits.timeoutMs;
  const runtime = module.newRuntime();
  runtime.setMemoryLimit(limits.memoryBytesMax);
  runtime.setMaxStackSize(limits.stackBytesMax);
  runtime.setInterruptHandler(() => {
    seen.isInterrupted ||= performance.now() >= deadline;
    return seen.isInterrupted;
  });
  runtime.setModuleLoader(() => {
    seen.hasImported = true;
    return { error: new Error("there are no modules here") };
  });
  const context = runtime.newContext();
  const outcome = evaluate({ runtime, context, limits, seen }, program, deadline);
  return { outcome, isSpoiled: !isDisposed(runtime, context) };
}

/** A program that is stopped in the middle can leave the interpreter unable to clean up; its outcome is known all the same. */
function isDisposed(runtime: QuickJSRuntime, context: QuickJSContext): boolean {
  try {
    context.dispose();
    runtime.dispose();
    return true;
  } catch {
    return false;
  }
}

function evaluate(session: Session, program: Program, deadline: number): ProgramOutcome {
  const { context, seen } = session;
  const functions = context.unwrapResult(context.evalCode(JSON_FUNCTIONS, "json.js", { type: "global" }));
  const parse = context.getProp(functions, "parse");
  const stringify = context.getProp(functions, "stringify");
  functions.dispose();
  try {
    const input = program.inputText === undefined ? undefined : giveInput(session, parse, program.inputText);
    if (input !== undefined) return input;
    const value = runToEnd(session, program.code, deadline);
    if ("ok" in value) return seen.hasImported && value.code !== "time_limit" ? importRefused() : value;
    return written(session, stringify, value);
  } finally {
    parse.dispose();
    stringify.dispose();
  }
}

function giveInput(session: Session, parse: QuickJSHandle, text: string): SandboxFailure | undefined {
  const { context } = session;
  const handle = context.newString(text);
  const parsed = context.callFunction(parse, context.undefined, handle);
  handle.dispose();
  if (parsed.error) return thrown(session, parsed.error);
  context.setProp(context.global, "input", parsed.value);
  parsed.value.dispose();
  return undefined;
}

function runToEnd(session: Session, code: string, deadline: number): QuickJSHandle | SandboxFailure {
  const { context, runtime, seen } = session;
  const evaluated = context.evalCode(code, "program.js", { type: "global" });
  if (evaluated.error) return thrown(session, evaluated.error);
  const { value } = evaluated;
  while (runtime.hasPendingJob()) {
    const ran = runtime.executePendingJobs(JOBS_AT_ONCE);
    seen.isInterrupted ||= performance.now() >= deadline;
    if (ran.error || seen.isInterrupted) {
      value.dispose();
      return ran.error ? thrown(session, ran.error) : timeLimit(session);
    }
  }
  const state = context.getPromiseState(value);
  if (state.type === "fulfilled" && state.notAPromise) return value;
  value.dispose();
  switch (state.type) {
    case "fulfilled":
      return state.value;
    case "rejected":
      return thrown(session, state.error);
    case "pending":
      return failure("never_settled", "The program's promise never settles: nothing is left that could settle it.");
  }
}

function written(session: Session, stringify: QuickJSHandle, value: QuickJSHandle): ProgramOutcome {
  const { context, limits } = session;
  const result = context.callFunction(stringify, context.undefined, value);
  value.dispose();
  if (result.error) {
    const problem = thrown(session, result.error);
    return problem.code === "threw" ? failure("not_json", `The result is not JSON: ${problem.message}`) : problem;
  }
  const handle = result.value;
  try {
    if (context.typeof(handle) !== "string") {
      return failure(
        "not_json",
        "The program has no result that JSON can hold. End it with a value, such as a number.",
      );
    }
    const characters = lengthOf(context, handle);
    if (characters > limits.outputCharactersMax) {
      const most = limits.outputCharactersMax;
      return failure("output_limit", `The result has ${characters} characters of JSON; ${most} are allowed.`);
    }
    return { ok: true, text: context.getString(handle) };
  } finally {
    handle.dispose();
  }
}

/** Reads what was thrown without trusting it: its properties may be getters and of any size. */
function thrown(session: Session, error: QuickJSHandle): SandboxFailure {
  const { seen } = session;
  try {
    const name = textOf(session, error, "name");
    const text = textOf(session, error, "message");
    if (seen.isInterrupted) return timeLimit(session);
    if (name === "InternalError" && text === "stack overflow") {
      return failure("stack_limit", "The program calls itself too deeply.");
    }
    if (name === "InternalError" && (text === "out of memory" || text === "string too long")) {
      return failure("memory_limit", `The program needs more than ${session.limits.memoryBytesMax} bytes of memory.`);
    }
    const message = printable(`${name ?? "a value"}: ${text ?? "no message"}`, MESSAGE_CHARACTERS_MAX);
    return failure(name === "SyntaxError" ? "syntax_error" : "threw", message);
  } finally {
    error.dispose();
  }
}

function textOf({ context }: Session, error: QuickJSHandle, name: "name" | "message"): string | undefined {
  if (context.typeof(error) === "string") return name === "message" ? boundedString(context, error) : undefined;
  if (context.typeof(error) !== "object") return undefined;
  let handle: QuickJSHandle;
  try {
    handle = context.getProp(error, name);
  } catch {
    // A getter or a proxy that throws itself.
    return undefined;
  }
  try {
    return context.typeof(handle) === "string" ? boundedString(context, handle) : undefined;
  } finally {
    handle.dispose();
  }
}

function boundedString(context: QuickJSContext, handle: QuickJSHandle): string | undefined {
  return lengthOf(context, handle) <= 10_000 ? context.getString(handle) : undefined;
}

function lengthOf(context: QuickJSContext, handle: QuickJSHandle): number {
  const length = context.getProp(handle, "length");
  const characters = context.getNumber(length);
  length.dispose();
  return characters;
}

function timeLimit({ limits }: Session): SandboxFailure {
  return failure("time_limit", `The program ran for more than ${limits.timeoutMs} ms.`);
}

function importRefused(): SandboxFailure {
  return failure("import_refused", "The program imports a module, and there are none. Leave out import().");
}
