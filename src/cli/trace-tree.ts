import type { Entry } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { spansOf, treeLines } from "../telemetry/index.ts";

/** The spans of a run as an indented tree with arguments, open ones included. */
export function traceTree(run: RunKey, entries: readonly Entry[], withAllowed: boolean): readonly string[] {
  return treeLines(spansOf(entries, { run, capture: true, withOpen: true }), { withAllowed });
}
