/** Milliseconds that work which is under way gets after the process was told to stop. */
export const SHUTDOWN_GRACE_MS = 10_000;

type StopSignal = "SIGINT" | "SIGTERM";

const EXIT_CODES: Readonly<Record<StopSignal, number>> = { SIGINT: 130, SIGTERM: 143 };

/** What was not waited for may hold the process alive; whoever ends the program has to end it itself then. */
let isGivenUp = false;

/**
 * Aborts when the process is told to stop; its `reason` is the name of the signal.
 *
 * The first signal lets what is under way come to a safe place; a second one does not wait, with 128 plus its number as
 * the exit code. Both lose nothing: the journal has everything that was acknowledged.
 */
export function shutdownSignal(): AbortSignal {
  const controller = new AbortController();
  for (const name of ["SIGINT", "SIGTERM"] as const) {
    process.on(name, () => {
      if (controller.signal.aborted) {
        process.exit(EXIT_CODES[name]);
      }
      controller.abort(name);
    });
  }
  return controller.signal;
}

/** The signal that told the process to stop, if one has. */
export function shutdownCause(signal: AbortSignal): StopSignal | undefined {
  return signal.aborted && (signal.reason === "SIGINT" || signal.reason === "SIGTERM") ? signal.reason : undefined;
}

/** Aborts when the process is told to stop by this signal, and not by the other. */
export function onlyFor(signal: AbortSignal, name: StopSignal): AbortSignal {
  const controller = new AbortController();
  const onAbort = (): void => {
    if (shutdownCause(signal) === name) controller.abort(name);
  };
  if (signal.aborted) onAbort();
  else signal.addEventListener("abort", onAbort, { once: true });
  return controller.signal;
}

/** Resolves when the process is told to stop, and keeps it alive until then. */
export function untilShutdown(signal: AbortSignal): Promise<void> {
  return new Promise((resolve) => {
    // A signal alone does not keep the process alive.
    const alive = setInterval(() => undefined, 60_000);
    const done = (): void => {
      clearInterval(alive);
      resolve();
    };
    if (signal.aborted) done();
    else signal.addEventListener("abort", done, { once: true });
  });
}

export type Drained<Value> = { readonly status: "done"; readonly value: Value } | { readonly status: "given_up" };

/**
 * Waits for work; once the process is told to stop, no longer than `graceMs` more.
 *
 * `given_up` loses nothing that was recorded: a call that is still running is found by the next worker, by its recovery
 * class. The caller closes what it holds and returns; the program then ends although that call holds it alive.
 */
export async function drained<Value>(
  work: Promise<Value>,
  signal: AbortSignal,
  graceMs: number = SHUTDOWN_GRACE_MS,
): Promise<Drained<Value>> {
  let timer: NodeJS.Timeout | undefined;
  let onAbort: (() => void) | undefined;
  const givenUp = new Promise<Drained<Value>>((resolve) => {
    onAbort = () => {
      timer = setTimeout(() => resolve({ status: "given_up" }), graceMs);
    };
    if (signal.aborted) onAbort();
    else signal.addEventListener("abort", onAbort, { once: true });
  });
  try {
    const ended = await Promise.race([work.then((value): Drained<Value> => ({ status: "done", value })), givenUp]);
    if (ended.status === "given_up") {
      isGivenUp = true;
      // It may still fail, on a store that is closed by then.
      work.catch(() => undefined);
    }
    return ended;
  } finally {
    clearTimeout(timer);
    if (onAbort !== undefined) signal.removeEventListener("abort", onAbort);
  }
}

/** Whether `drained` has given something up, so that the program must be ended by hand. */
export function mustExit(): boolean {
  return isGivenUp;
}
