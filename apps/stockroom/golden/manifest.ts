import { createHash } from "node:crypto";
import { BelayError } from "belay-harness";

/** What `manifest.json` says of one file. */
interface ManifestFile {
  readonly sha256: string;
  readonly cases: number;
  /** Cases of each class, where the classes are fixed. */
  readonly classes?: Readonly<Record<string, number>>;
}

export interface Manifest {
  readonly version: string;
  readonly files: Readonly<Record<string, ManifestFile>>;
}

/** Refuses a file of cases that is not the one that the manifest describes. Throws `BELAY_EVAL_CASE`. */
export function checkManifest(
  manifest: Manifest,
  file: string,
  text: string,
  cases: readonly { readonly class: string }[],
): void {
  const described = Object.hasOwn(manifest.files, file) ? manifest.files[file] : undefined;
  if (described === undefined) {
    throw invalid(file, "golden/manifest.json does not know it");
  }
  const sha256 = createHash("sha256").update(text).digest("hex");
  if (sha256 !== described.sha256) {
    throw invalid(file, `its SHA-256 is ${sha256}, and golden/manifest.json says ${described.sha256}`);
  }
  if (cases.length !== described.cases) {
    throw invalid(file, `it has ${cases.length} cases, and golden/manifest.json says ${described.cases}`);
  }
  for (const [name, count] of Object.entries(described.classes ?? {})) {
    const found = cases.filter((each) => each.class === name).length;
    if (found !== count) {
      throw invalid(file, `it has ${found} cases of ${name}, and golden/manifest.json says ${count}`);
    }
  }
}

function invalid(file: string, problem: string): BelayError {
  return new BelayError(
    "BELAY_EVAL_CASE",
    `golden/${file}: ${problem}. Put the file back, or raise the manifest's version with its new hash and counts.`,
  );
}
