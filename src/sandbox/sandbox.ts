import { checkJsonValue, type JsonValue, parseStrictJson } from "../core/index.ts";
import { type InterpreterThread, startThread } from "./interpreter-thread.ts";
import { readLimits, type SandboxLimits } from "./limits.ts";
import { failure, type ProgramOutcome, type SandboxFailure } from "./outcome.ts";
import type { Program } from "./run-program.ts";

export type SandboxResult = { readonly ok: true; readonly value: JsonValue } | SandboxFailure;

export interface EvaluateOptions {
  /** What the program sees as the global `input`: JSON, copied. */
  readonly input?: JsonValue;
  readonly signal?: AbortSignal;
}

export interface Sandbox extends AsyncDisposable {
  /**
   * Runs an expression or a small script (ECMAScript 2023, no modules) and gives its last value; a promise is waited for.
   *
   * Each evaluation has a fresh runtime: nothing of it is left for the next. The program has the language's built-ins
   * and `input`, and nothing of the host: no files, no network, no timers, no `process`. One runs at a time, in a thread
   * of its own, so the host's event loop is free meanwhile. Every way in which a program can go wrong is a value.
   *
   * Throws `BELAY_PEER_MISSING` or `BELAY_SANDBOX_FAILED` when there is no interpreter.
   */
  evaluate(code: string, options?: EvaluateOptions): Promise<SandboxResult>;
  /** Ends the interpreter; what still waits fails with `closed`. */
  close(): Promise<void>;
}

/** Evaluations that may wait for their turn. */
const WAITING_MAX = 1000;
const DEPTH_MAX = 100;

/**
 * Creates a sandbox for code that nobody trusts, in QuickJS compiled to WebAssembly (optional peer `quickjs-emscripten`).
 *
 * The interpreter starts with the first evaluation, and starts anew after a program that broke it or had to be ended.
 * Throws `BELAY_SANDBOX_INVALID` for limits out of bounds.
 *
 * @example
 * ```ts
 * await using sandbox = createSandbox({ timeoutMs: 100 });
 * await sandbox.evaluate("input.prices.reduce((sum, price) => sum + price, 0)", { input: { prices: [1, 2] } });
 * // { ok: true, value: 3 }
 * ```
 */
export function createSandbox(options: Partial<SandboxLimits> = {}): Sandbox {
  const limits = readLimits(options);
  let thread: InterpreterThread | undefined;
  let waiting = 0;
  let isClosed = false;
  let tail: Promise<unknown> = Promise.resolve();

  const usableThread = async (): Promise<InterpreterThread> => {
    if (thread?.isUsable !== true) {
      thread = undefined;
      thread = await startThread({ memoryBytesMax: limits.memoryBytesMax });
    }
    return thread;
  };

  const takeTurn = async (program: Program, signal: AbortSignal | undefined): Promise<SandboxResult> => {
    if (isClosed) return closed();
    if (signal?.aborted) return aborted();
    const own = await usableThread();
    // It may have been closed while the thread started.
    if (isClosed) {
      await own.stop();
      return closed();
    }
    const outcome = await own.run({ ...program, limits }, signal);
    return isClosed && !outcome.ok ? closed() : read(outcome, limits);
  };

  const close = async (): Promise<void> => {
    isClosed = true;
    await thread?.stop();
    await tail;
  };

  return {
    evaluate: async (code, { input, signal } = {}) => {
      if (isClosed) return closed();
      const program = programOf(code, input, limits);
      if ("ok" in program) return program;
      if (waiting >= WAITING_MAX) {
        return failure("busy", `${WAITING_MAX} evaluations wait already. Try again later.`);
      }
      waiting += 1;
      const turn = tail
        .then(() => takeTurn(program, signal))
        .finally(() => {
          waiting -= 1;
        });
      tail = turn.catch(() => undefined);
      return await unlessAborted(turn, signal);
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

function programOf(code: string, input: JsonValue | undefined, limits: SandboxLimits): Program | SandboxFailure {
  const most = limits.inputCharactersMax;
  const tooLarge = (what: string, length: number): SandboxFailure =>
    failure("input_too_large", `The ${what} has ${length} characters; ${most} are allowed.`);
  if (code.length > most) return tooLarge("program", code.length);
  if (input === undefined) return { code };
  const checked = checkJsonValue(input);
  if (!checked.ok) return failure("not_json", `The input is not JSON: ${checked.message} (at ${checked.path}).`);
  const inputText = JSON.stringify(checked.value);
  return inputText.length > most ? tooLarge("input", inputText.length) : { code, inputText };
}

/** Who waits for a turn that is no longer wanted is answered at once; the turn itself is then empty. */
function unlessAborted(turn: Promise<SandboxResult>, signal: AbortSignal | undefined): Promise<SandboxResult> {
  if (signal === undefined) return turn;
  return new Promise((resolve, reject) => {
    const onAbort = (): void => resolve(aborted());
    signal.addEventListener("abort", onAbort, { once: true });
    turn.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

function aborted(): SandboxFailure {
  return failure("aborted", "The evaluation was aborted.");
}

function closed(): SandboxFailure {
  return failure("closed", "The sandbox is closed. Create another.");
}

/** What comes out of the interpreter is foreign text and is read as strictly as a model's arguments. */
function read(outcome: ProgramOutcome, limits: SandboxLimits): SandboxResult {
  if (!outcome.ok) return outcome;
  const parsed = parseStrictJson(outcome.text, { charactersMax: limits.outputCharactersMax, depthMax: DEPTH_MAX });
  return parsed.ok ? parsed : failure("not_json", `The result cannot be used: ${parsed.message} (at ${parsed.path}).`);
}
