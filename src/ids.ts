import { randomBytes } from "node:crypto";

export type IdPrefix = "run" | "apr" | "msg" | "cnv" | "rsv" | "wrk";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** A random id that sorts by time: prefix, 9 characters of milliseconds, 10 of chance (50 bits). */
export function newId(prefix: IdPrefix, now: number): string {
  let time = "";
  for (let rest = Math.max(0, Math.floor(now)), index = 0; index < 9; index += 1, rest = Math.floor(rest / 32)) {
    time = (ALPHABET[rest % 32] ?? "0") + time;
  }
  let chance = "";
  for (const byte of freshBytes()) chance += ALPHABET[byte % 32] ?? "0";
  return `${prefix}_${time}${chance}`;
}

const CHANCE_BYTES = 10;
let pool: Uint8Array = new Uint8Array(0);
let used = 0;

/** Bytes that no other id is made of. Drawn for many ids at once, because asking the system costs more than an id. */
function freshBytes(): Uint8Array {
  if (used + CHANCE_BYTES > pool.length) {
    pool = randomBytes(CHANCE_BYTES * 64);
    used = 0;
  }
  used += CHANCE_BYTES;
  return pool.subarray(used - CHANCE_BYTES, used);
}
