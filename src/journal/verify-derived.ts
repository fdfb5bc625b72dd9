import { isBlobIntact } from "./check-blob.ts";
import type { RunKey, Store, StoreDifference } from "./store.ts";
import type { DerivedFailure } from "./store-verdict.ts";

/** Where the journal first speaks of a blob. */
export type BlobReferences = Map<string, { readonly run: RunKey; readonly seq: number }>;

/** The first blob that is not what its name says, or that the journal needs and the store does not have. */
export async function verifyBlobs(
  store: Store,
  references: BlobReferences,
  signal: AbortSignal | undefined,
): Promise<DerivedFailure | undefined> {
  const missing = new Map(references);
  for await (const { sha256, text } of store.audit.blobs()) {
    signal?.throwIfAborted();
    missing.delete(sha256);
    if (!isBlobIntact(sha256, text)) {
      const detail = `the blob ${sha256}${usedBy(references, sha256)} is not the text that was stored under this hash`;
      return { ok: false, problem: "blob_differs", seq: null, table: "blobs", row: sha256, detail };
    }
  }
  for (const sha256 of missing.keys()) {
    const detail = `the blob ${sha256}${usedBy(references, sha256)} is gone`;
    return { ok: false, problem: "blob_missing", seq: null, table: "blobs", row: sha256, detail };
  }
  return undefined;
}

function usedBy(references: BlobReferences, sha256: string): string {
  const reference = references.get(sha256);
  return reference === undefined ? "" : `, of event ${reference.seq} of run ${reference.run.runId},`;
}

/** The first derived row that is not what the journal says. */
export async function verifyProjections(store: Store): Promise<DerivedFailure | undefined> {
  const differences = await store.audit.differences();
  const [first] = differences;
  if (first === undefined) {
    return undefined;
  }
  const { table, row } = first;
  const more = differences.length === 1 ? "" : `, and ${differences.length - 1} more`;
  const detail = `${describe(first)}${more}; belay doctor --rebuild derives what is derived from the journal again`;
  return { ok: false, problem: "projection_differs", seq: null, table, row, detail };
}

function describe({ table, row, stored, derived }: StoreDifference): string {
  const fault =
    stored === undefined ? "is missing" : derived === undefined ? "has no event" : "is not what the journal says";
  return `row ${row} of the table ${table} ${fault}`;
}
