import type { CommitResult, PreparedCommit, RunKey } from "../../journal/index.ts";

/** A commit as a transaction sees it. */
export interface PendingCommit {
  readonly commit: PreparedCommit;
  /** An earlier try may have been kept: its COMMIT was sent, and no answer came. */
  readonly mayBeStored: boolean;
}

/** A commit on its way into the store. */
export interface CommitJob extends PendingCommit {
  mayBeStored: boolean;
  readonly resolve: (result: CommitResult) => void;
  readonly reject: (error: unknown) => void;
}

/** What became of a job inside its transaction. */
export type JobOutcome =
  | { readonly status: "told"; readonly result: CommitResult }
  | { readonly status: "invalid"; readonly error: unknown };

/** One text for a run, for maps. */
export function runName({ tenant, runId }: RunKey): string {
  return JSON.stringify([tenant, runId]);
}
