import { createHash } from "node:crypto";
import type { SignedIn } from "../deps.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";

/** The ids that a key stands for: the same key of the same person in the same tenant always means the same run. */
export interface KeyedIds {
  readonly runId: string;
  readonly conversationId: string;
}

export function idsOfKey(by: SignedIn, key: string, what: "run" | "message"): KeyedIds {
  return { runId: `run_${digest(by, key, what)}`, conversationId: `cnv_${digest(by, key, `${what} conversation`)}` };
}

/** 130 bits, so that no two keys meet. */
function digest({ tenant, person, kind }: SignedIn, key: string, what: string): string {
  const hash = createHash("sha256")
    .update(JSON.stringify([what, tenant, kind ?? "person", person.id, key]))
    .digest();
  return [...hash.subarray(0, 26)].map((byte) => ALPHABET[byte % ALPHABET.length] ?? "0").join("");
}
