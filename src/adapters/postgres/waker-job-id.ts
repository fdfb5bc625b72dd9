import { createHash } from "node:crypto";
import type { Wake } from "../../engine/index.ts";

// Any fixed value serves; it keeps these ids apart from those of others who name things by UUIDv5.
const NAMESPACE = Buffer.from("6f6a1f5e8c6d4b6f9d0e2a4b7c315d90", "hex");

/**
 * Name of the job of a wake: the same run and key always give the same, so PostgreSQL's primary key drops the second.
 *
 * pg-boss's own `singletonKey` does not do that under every policy. `slot` 1 is for a wake that is sent again while the
 * one in slot 0 is being delivered. UUID version 5 (RFC 9562, section 5.5).
 */
export function jobIdOf({ run, key }: Pick<Wake, "run" | "key">, slot: 0 | 1): string {
  const name = JSON.stringify([run.tenant, run.runId, key, slot]);
  const hash = createHash("sha1").update(NAMESPACE).update(name).digest().subarray(0, 16);
  hash.writeUInt8((hash.readUInt8(6) & 0x0f) | 0x50, 6);
  hash.writeUInt8((hash.readUInt8(8) & 0x3f) | 0x80, 8);
  const hex = hash.toString("hex");
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join("-");
}
