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
  for (const byte of randomBytes(10)) chance += ALPHABET[byte % 32] ?? "0";
  return `${prefix}_${time}${chance}`;
}
