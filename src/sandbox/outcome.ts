/** Why an evaluation gave no value. */
export type SandboxFailureCode =
  | "aborted"
  /** More evaluations wait than the sandbox takes. */
  | "busy"
  | "closed"
  | "import_refused"
  /** The program, or its input as JSON text, is too long. */
  | "input_too_large"
  /** The interpreter itself broke; it is thrown away and the next evaluation gets a new one. */
  | "interpreter_failed"
  | "memory_limit"
  /** The result cannot be written as JSON without loss: undefined, a function, NaN, a bigint, a cycle. */
  | "not_json"
  /** The program's promise waits for something that never comes. */
  | "never_settled"
  | "output_limit"
  | "stack_limit"
  | "syntax_error"
  /** The program threw; `message` is what it says, bounded and printable. */
  | "threw"
  | "time_limit";

export interface SandboxFailure {
  readonly ok: false;
  readonly code: SandboxFailureCode;
  /** Safe to show to a model: printable ASCII, bounded. */
  readonly message: string;
}

/** What the interpreter's thread answers: the value is still text. */
export type ProgramOutcome = { readonly ok: true; readonly text: string } | SandboxFailure;

export function failure(code: SandboxFailureCode, message: string): SandboxFailure {
  return { ok: false, code, message };
}
