import { createHash } from "node:crypto";
import { readFileSync } from "node:fs";
import { canonicalize, type JsonValue } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { parseCases } from "./load-suite.ts";
import type { EvalCase, EvalSuite } from "./suite.ts";

/** Cases of one file, and which version of them it is. */
export interface Dataset {
  readonly cases: readonly EvalCase[];
  readonly version: string;
  /** SHA-256 of the file's bytes, in hexadecimal. */
  readonly sha256: string;
}

interface Manifest {
  readonly version: string;
  readonly files: Readonly<Record<string, { readonly sha256: string; readonly cases: number }>>;
}

/**
 * Reads `<name>.jsonl` of a folder whose `manifest.json` says `{version, files: {"<name>.jsonl": {sha256, cases}}}`.
 *
 * `folder` must end with a slash. Throws `BELAY_EVAL_CASE` for cases that cannot be right and for a file that is not
 * the one that the manifest describes, so that nobody changes a case without saying so.
 */
export function readDataset(folder: URL, name: string): Dataset {
  const file = `${name}.jsonl`;
  const text = readFileSync(new URL(file, folder), "utf8");
  const manifest: Manifest = JSON.parse(readFileSync(new URL("manifest.json", folder), "utf8"));
  const cases = parseCases(text, file);
  const described = Object.hasOwn(manifest.files, file) ? manifest.files[file] : undefined;
  const sha256 = sha256Of(text);
  if (described?.sha256 !== sha256 || described.cases !== cases.length) {
    const says = described === undefined ? "nothing of it" : `${described.sha256} and ${described.cases} cases`;
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `${file} has the SHA-256 ${sha256} and ${cases.length} cases, and manifest.json says ${says}. ` +
        "Put the file back, or raise the manifest's version with its new hash and count.",
    );
  }
  return { cases, version: manifest.version, sha256 };
}

/** What the cases of a suite are: their file's hash, or that of their canonical JSON for a suite without a file. */
export function datasetHash(suite: Pick<EvalSuite, "cases" | "dataset">): string {
  if (suite.dataset !== undefined) {
    return suite.dataset.sha256;
  }
  const canonical = canonicalize(suite.cases as unknown as JsonValue);
  if (!canonical.ok) {
    throw new BelayError("BELAY_EVAL_CASE", `the cases are no JSON at ${canonical.path}: ${canonical.problem}`);
  }
  return sha256Of(canonical.text);
}

function sha256Of(text: string): string {
  return createHash("sha256").update(text).digest("hex");
}
