import {
  type AuditEntry,
  appendLeaf,
  createAuditEntry,
  EMPTY_FRONTIER,
  type Frontier,
  generateSigner,
  rootOf,
  signCheckpoint,
} from "../../src/audit/index.ts";

export const origin = "example.com/audit";
export const { signer } = generateSigner(origin);
export const stranger = generateSigner(origin).signer;
export const verifierKeys = [signer.verifierKey];

export function logOf(count: number, salt = 0): AuditEntry[] {
  return Array.from({ length: count }, (_, seq) =>
    createAuditEntry(seq, {
      seq,
      at: 1_700_000_000_000 + seq,
      tenant: "default",
      runId: `run-${salt}`,
      amount: seq * 5,
    }),
  );
}

export function frontierOf(log: readonly AuditEntry[]): Frontier {
  return log.reduce((frontier, entry) => appendLeaf(frontier, entry.leaf), EMPTY_FRONTIER);
}

export function trusted(log: readonly AuditEntry[], size: number): { size: number; root: string } {
  return { size, root: rootOf(frontierOf(log.slice(0, size))) };
}

export function signed(log: readonly AuditEntry[], size: number, by = signer): string {
  return signCheckpoint({ origin, ...trusted(log, size) }, by);
}

/** What a person with write access to the table would do: text and leaf fit each other again. */
export function rewrite(log: readonly AuditEntry[], at: number): AuditEntry[] {
  return log.with(at, createAuditEntry(at, { forged: true, at }));
}
