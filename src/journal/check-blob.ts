import { hash } from "node:crypto";
import { BelayError } from "../errors.ts";

/** Whether a stored blob is what its name says. */
export function isBlobIntact(sha256: string, text: string): boolean {
  return hash("sha256", text) === sha256;
}

/** Returns the text of a blob, or undefined for none. Throws `BELAY_STORE_CORRUPT` when it is not what its name says. */
export function checkBlob(sha256: string, text: string | undefined): string | undefined {
  if (text !== undefined && !isBlobIntact(sha256, text)) {
    throw new BelayError(
      "BELAY_STORE_CORRUPT",
      `The blob ${sha256} of the table blobs is not the text that was stored under this hash. ` +
        "Restore the store from a backup, and find out who changed it (belay audit verify).",
    );
  }
  return text;
}
