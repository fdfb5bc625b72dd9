export type Bounded<Value> =
  | { readonly status: "done"; readonly value: Value }
  | { readonly status: "failed"; readonly error: unknown }
  | { readonly status: "timeout" }
  | { readonly status: "aborted" };

/**
 * Waits for work no longer than `timeoutMs` and no longer than until `signal` aborts, even when the work ignores the
 * signal that it is given. What still comes after that goes to `onLate`; a late rejection is never unhandled.
 */
export function bounded<Value>(
  work: (signal: AbortSignal) => Value | Promise<Value>,
  options: {
    readonly timeoutMs: number;
    readonly signal: AbortSignal;
    readonly onLate?: (value: Value) => void;
    /** The work is told of an abort and still waited for, as long as its time lasts. */
    readonly waitsWhenAborted?: boolean;
  },
): Promise<Bounded<Value>> {
  const { timeoutMs, signal, onLate, waitsWhenAborted = false } = options;
  return new Promise((resolve) => {
    const controller = new AbortController();
    let isOver = false;
    const settle = (result: Bounded<Value>): void => {
      if (isOver) return;
      isOver = true;
      clearTimeout(timer);
      signal.removeEventListener("abort", onAbort);
      if (result.status === "timeout" || result.status === "aborted") controller.abort(new Error(result.status));
      resolve(result);
    };
    const onAbort = (): void => {
      if (waitsWhenAborted) controller.abort(new Error("aborted"));
      else settle({ status: "aborted" });
    };
    // Node's timers hold at most 2^31 - 1 ms.
    const timer = setTimeout(() => settle({ status: "timeout" }), Math.min(timeoutMs, 2_147_483_647));
    signal.addEventListener("abort", onAbort, { once: true });
    if (signal.aborted) {
      settle({ status: "aborted" });
      return;
    }
    const finish = (value: Value): void => {
      if (isOver) onLate?.(value);
      else settle({ status: "done", value });
    };
    try {
      const value = work(controller.signal);
      if (isThenable(value)) value.then(finish, (error: unknown) => settle({ status: "failed", error }));
      else finish(value);
    } catch (error) {
      settle({ status: "failed", error });
    }
  });
}

export function isThenable<Value>(value: Value | Promise<Value>): value is Promise<Value> {
  return typeof value === "object" && value !== null && "then" in value && typeof value.then === "function";
}
