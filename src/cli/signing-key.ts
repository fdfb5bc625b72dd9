import { existsSync, readFileSync, writeFileSync } from "node:fs";
import { join, resolve } from "node:path";
import { createSigner, generateSigner, type NoteSigner } from "../audit/index.ts";
import { type CommandInput, textOption } from "./command.ts";
import type { Place } from "./place.ts";
import { readText } from "./read-text.ts";
import { usageError } from "./usage.ts";

/** Names the log in its checkpoints; the key tells logs of the same name apart. */
export const LOG_ORIGIN = "belay/audit";

/** The key that signs a project's checkpoints, or undefined before the first one. */
export function findSigner(input: CommandInput, place: Place): NoteSigner | undefined {
  const file = keyFile(input, place);
  return existsSync(file)
    ? createSigner({ name: LOG_ORIGIN, privateKeyPem: readText(input.cwd, file, "key-file") })
    : undefined;
}

/** The key that signs a project's checkpoints, made at first use and readable by its owner alone. */
export function ensureSigner(input: CommandInput, place: Place): NoteSigner {
  const known = findSigner(input, place);
  if (known !== undefined) {
    return known;
  }
  const file = keyFile(input, place);
  const { signer, privateKeyPem } = generateSigner(LOG_ORIGIN);
  try {
    // Never over a key that another process made meanwhile: its checkpoints would no longer verify.
    writeFileSync(file, privateKeyPem, { mode: 0o600, flag: "wx" });
  } catch (error) {
    if (existsSync(file)) {
      return createSigner({ name: LOG_ORIGIN, privateKeyPem: readFileSync(file, "utf8") });
    }
    const code = error instanceof Error && "code" in error ? String(error.code) : "unwritable";
    throw usageError(`The signing key ${file} cannot be written (${code}). Correct --key-file or the folder's rights.`);
  }
  input.output.progress(`Made the signing key ${file}. Better keep it on another machine than the database.`);
  return signer;
}

/** Where the key lies, or will. */
export function keyFile(input: CommandInput, place: Place): string {
  const given = textOption(input, "key-file");
  return given === undefined ? join(place.folder, "audit-key.pem") : resolve(input.cwd, given);
}
