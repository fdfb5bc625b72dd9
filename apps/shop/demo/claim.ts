import { isDeepStrictEqual } from "node:util";

/** Thrown by a step whose claim does not hold; the message says what was found instead. */
export class ClaimFailed extends Error {
  override readonly name = "ClaimFailed";
}

/** Throws `ClaimFailed` unless the claim holds. */
export function claim(isTrue: boolean, what: string): void {
  if (!isTrue) {
    throw new ClaimFailed(`not true: ${what}`);
  }
}

/** Throws `ClaimFailed` unless two plain values are equal. */
export function claimEqual(what: string, found: unknown, expected: unknown): void {
  if (!isDeepStrictEqual(found, expected)) {
    throw new ClaimFailed(`${what}: expected ${JSON.stringify(expected)}, found ${JSON.stringify(found)}`);
  }
}
