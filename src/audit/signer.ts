import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from "node:crypto";
import { BelayError } from "../errors.ts";
import { describeKey, isKeyName } from "./note-key.ts";

/** Signs notes under one name; holds the private key without showing it. */
export interface NoteSigner {
  readonly name: string;
  /** What others need to check the signatures; safe to publish. */
  readonly verifierKey: string;
  /** Returns the signature line of a note's text, with its newline. */
  signatureLine(text: string): string;
}

/**
 * Makes a new Ed25519 key pair for signing checkpoints (C2SP signed-note).
 *
 * Keep `privateKeyPem` (PKCS 8) secret and hand it to `createSigner` after a restart. The name is best the origin of
 * the log, such as `example.com/audit`. Throws `BELAY_AUDIT_INVALID` for a name with spaces or plus signs.
 */
export function generateSigner(name: string): { readonly signer: NoteSigner; readonly privateKeyPem: string } {
  const { privateKey } = generateKeyPairSync("ed25519");
  const privateKeyPem = privateKey.export({ type: "pkcs8", format: "pem" }).toString();
  return { signer: signerOf(name, privateKey), privateKeyPem };
}

/** Makes a signer from a stored Ed25519 private key; throws `BELAY_AUDIT_INVALID` for another key or a bad name. */
export function createSigner(options: { readonly name: string; readonly privateKeyPem: string }): NoteSigner {
  return signerOf(options.name, readPrivateKey(options.privateKeyPem));
}

function signerOf(name: string, privateKey: KeyObject): NoteSigner {
  if (!isKeyName(name)) {
    throw new BelayError(
      "BELAY_AUDIT_INVALID",
      `"${String(name).slice(0, 120)}" cannot name a signing key. Use a name without spaces and plus signs, best one ` +
        "like example.com/audit.",
    );
  }
  const { id, verifierKey } = describeKey(name, createPublicKey(privateKey));
  return {
    name,
    verifierKey,
    signatureLine: (text) => {
      const signature = sign(null, Buffer.from(text), privateKey);
      return `— ${name} ${Buffer.concat([id, signature]).toString("base64")}\n`;
    },
  };
}

function readPrivateKey(pem: string): KeyObject {
  let key: KeyObject | undefined;
  try {
    key = createPrivateKey(pem);
  } catch {
    // The reason is left out on purpose: it may quote the key.
  }
  if (key?.asymmetricKeyType !== "ed25519") {
    throw new BelayError(
      "BELAY_AUDIT_INVALID",
      "The private key of a checkpoint signer is not an Ed25519 key in PEM form. Pass the privateKeyPem that " +
        "generateSigner() returned.",
    );
  }
  return key;
}
