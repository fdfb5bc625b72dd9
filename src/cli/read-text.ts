import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { BelayError } from "../errors.ts";

/** Reads a file that an option names; throws `BELAY_FILE_UNREADABLE`. */
export function readText(cwd: string, file: string, option: string): string {
  const path = resolve(cwd, file);
  try {
    return readFileSync(path, "utf8");
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "unreadable";
    throw new BelayError("BELAY_FILE_UNREADABLE", `--${option} ${path} cannot be read (${code}). Correct the path.`, {
      cause: error,
    });
  }
}
