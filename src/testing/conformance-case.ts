import assert from "node:assert/strict";
import { BelayError, type BelayErrorCode } from "../errors.ts";

/** One check of a conformance suite, for any test runner: `run` throws when the implementation is wrong. */
export interface ConformanceCase {
  readonly name: string;
  run(): Promise<void>;
}

/** Fails unless the promise rejects with a typed error of this code, whose message says more than the code. */
export async function rejectsWith(promise: Promise<unknown>, code: BelayErrorCode): Promise<void> {
  await assert.rejects(promise, (error) => {
    assert.ok(error instanceof BelayError, `expected ${code}, and ${String(error)} was thrown`);
    assert.equal(error.code, code);
    assert.ok(error.message.length > 20, "the message must name the thing, the value and the remedy");
    return true;
  });
}

/** All values of an async iterable. */
export async function collect<Value>(values: AsyncIterable<Value>): Promise<readonly Value[]> {
  const collected: Value[] = [];
  for await (const value of values) {
    collected.push(value);
  }
  return collected;
}
