/** True for a promise of any library. May throw when `then` is a getter that does. */
export function isThenable(value: unknown): value is PromiseLike<unknown> {
  return (
    ((typeof value === "object" && value !== null) || typeof value === "function") &&
    "then" in value &&
    typeof value.then === "function"
  );
}

/** A promise of this realm with its own `then`, whatever the thenable's looks like. */
export function asPromise(thenable: PromiseLike<unknown>): Promise<unknown> {
  return new Promise((resolve) => resolve(thenable));
}

/**
 * What comes of foreign code, at once if it answers at once: `settle` of what it gave, or `failed` of what it, its
 * promise or `settle` threw.
 */
export function outcomeOf<Outcome>(
  work: () => unknown,
  settle: (value: unknown) => Outcome | Promise<Outcome>,
  failed: (error: unknown) => Outcome | Promise<Outcome>,
): Outcome | Promise<Outcome> {
  const guarded = (value: unknown): Outcome | Promise<Outcome> => {
    try {
      return settle(value);
    } catch (error) {
      return failed(error);
    }
  };
  try {
    const value = work();
    return isThenable(value) ? asPromise(value).then(guarded, failed) : guarded(value);
  } catch (error) {
    return failed(error);
  }
}

/** A hook that fails must not change what it is told of. */
export function quietly<Told extends readonly unknown[]>(
  hook: ((...told: Told) => void) | undefined,
): (...told: Told) => void {
  return (...told) => {
    try {
      hook?.(...told);
    } catch {
      // There is nobody left to tell.
    }
  };
}
