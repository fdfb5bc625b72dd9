import { createPublicKey, hash, type KeyObject } from "node:crypto";
import { BelayError } from "../errors.ts";

/** A public key that may vouch for notes: its name and four-byte id say which signature lines are its own. */
export interface NoteKey {
  readonly name: string;
  readonly idHex: string;
  readonly publicKey: KeyObject;
}

const ED25519 = 0x01;
const PUBLIC_KEY_BYTES = 32;

/** Whether a text can name a key: not empty, without spaces (also Unicode ones), control characters or plus signs. */
export function isKeyName(name: unknown): name is string {
  // NEL (U+0085) is a space to Unicode and not to \s.
  return typeof name === "string" && name.isWellFormed() && /^[^\s\u0085+\p{Cc}]+$/u.test(name);
}

/**
 * Reads a verifier key, `name+hash+base64(0x01 ‖ public key)` with the hash in hexadecimal (C2SP signed-note, Ed25519).
 *
 * Throws `BELAY_AUDIT_INVALID` for anything else: which keys are trusted is configuration, not data.
 */
export function parseVerifierKey(verifierKey: string): NoteKey {
  const [, name, idHex, encoded] = /^([^+]+)\+([0-9a-f]{8})\+(.+)$/.exec(verifierKey) ?? [];
  const bytes = encoded === undefined ? undefined : fromBase64(encoded);
  const isEd25519 = bytes?.length === PUBLIC_KEY_BYTES + 1 && bytes[0] === ED25519;
  if (!isKeyName(name) || bytes === undefined || !isEd25519 || keyId(name, bytes).toString("hex") !== idHex) {
    throw new BelayError(
      "BELAY_AUDIT_INVALID",
      `"${String(verifierKey).slice(0, 120)}" is not an Ed25519 verifier key. ` +
        "Pass the whole text name+hash+key that generateSigner() returned as signer.verifierKey.",
    );
  }
  const jwk = { kty: "OKP", crv: "Ed25519", x: bytes.subarray(1).toString("base64url") };
  return { name, idHex, publicKey: createPublicKey({ key: jwk, format: "jwk" }) };
}

/** The four bytes that go before each signature, and the verifier key that others use to check them. */
export function describeKey(name: string, publicKey: KeyObject): { id: Buffer; verifierKey: string } {
  const raw = Buffer.from(publicKey.export({ format: "jwk" }).x ?? "", "base64url");
  const typed = Buffer.concat([Buffer.of(ED25519), raw]);
  const id = keyId(name, typed);
  return { id, verifierKey: `${name}+${id.toString("hex")}+${typed.toString("base64")}` };
}

function keyId(name: string, typedKey: Buffer): Buffer {
  return hash("sha256", Buffer.concat([Buffer.from(`${name}\n`), typedKey]), "buffer").subarray(0, 4);
}

/** Decodes base64 (RFC 4648, section 4), or undefined unless the text is the one canonical encoding of its bytes. */
export function fromBase64(text: string): Buffer | undefined {
  const bytes = Buffer.from(text, "base64");
  return bytes.toString("base64") === text ? bytes : undefined;
}
