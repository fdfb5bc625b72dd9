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
