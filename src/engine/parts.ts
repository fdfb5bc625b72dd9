import { BelayError } from "../errors.ts";
import type { Agent } from "./agent.ts";

/** What only some agents need. It is kept, because it is used where nothing may be waited for. */
interface Parts {
  points?: typeof import("./points-of-call.ts");
  compaction?: typeof import("./compact-step.ts");
}

export const parts: Parts = {};

/** Loads what the runs of an agent need beyond the rest, before one is driven. */
export async function loadParts({ budget, compaction }: Agent): Promise<void> {
  if (budget !== undefined) parts.points ??= await import("./points-of-call.ts");
  if (compaction !== undefined) parts.compaction ??= await import("./compact-step.ts");
}

/** A part that was loaded. Without it nothing goes on: a call that costs points must not run for nothing. */
export function partFor<Part>(part: Part | undefined): Part {
  if (part !== undefined) return part;
  throw new BelayError("BELAY_INTERNAL", "a part of the engine was used before it was loaded; report this");
}
