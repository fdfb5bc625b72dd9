/** What the recorded process was told is kept, and how long the record was at that moment. */
export type Acknowledgement = { readonly position: number } & (
  | {
      readonly kind: "commit";
      readonly tenant: string;
      readonly runId: string;
      readonly head: number;
      readonly hashes: readonly string[];
    }
  /** A tool has run: its intent must have been durable. */
  | { readonly kind: "effect"; readonly idempotencyKey: string }
  /** The audit log had this size and root. */
  | { readonly kind: "root"; readonly size: number; readonly root: string }
);

/**
 * Faults that a test of power cuts must see. `normal`: the store's file is opened with `synchronous=NORMAL`. `early`:
 * events are acknowledged when they are handed in. Both exist in the recorded process alone. `lie`: every sync answers
 * "done" and does nothing; that one is the recorder's.
 */
export type Mutant = "none" | "normal" | "early" | "lie";
