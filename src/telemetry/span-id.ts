import { createHash } from "node:crypto";
import type { RunKey } from "../journal/index.ts";

/** The trace of a run: 32 hex digits that depend on tenant and run id alone. */
export function traceIdOf({ tenant, runId }: RunKey): string {
  return digest(["belay.trace", tenant, runId]).slice(0, 32);
}

/** A span of a run: 16 hex digits that depend on the run, the entry that opened the span, and what it is about. */
export function spanIdOf({ tenant, runId }: RunKey, openedSeq: number, subject: string): string {
  return digest(["belay.span", tenant, runId, String(openedSeq), subject]).slice(0, 16);
}

/** JSON keeps the parts apart, whatever characters they have. */
function digest(parts: readonly string[]): string {
  return createHash("sha256").update(JSON.stringify(parts)).digest("hex");
}
