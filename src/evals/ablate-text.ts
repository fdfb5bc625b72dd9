import type { KillMatrix, KillRow } from "./ablate.ts";
import { names } from "./gate-evidence.ts";

/** Writes a kill matrix: a line for each control, the cases that fail without it, then the pairs and the verdict. */
export function formatKillMatrix(matrix: KillMatrix): string {
  const { rows, pairs, failing, cases } = matrix;
  const width = Math.max(...rows.map(({ control }) => control.length), "control".length);
  const empty = rows.filter(({ idle, killedBy }) => idle === undefined && killedBy.length === 0);
  return [
    ...(failing.length > 0 ? [`${failing.length} case(s) fail with every control in place: ${names(failing)}`] : []),
    `${"control".padEnd(width)}  kills  cases that fail without it`,
    ...rows.map((row) => `${row.control.padEnd(width)}  ${String(row.killedBy.length).padStart(5)}  ${casesOf(row)}`),
    ...pairLines(pairs),
    `controls: ${rows.length}, cases: ${cases.length}, controls that no case needs: ${empty.length}`,
    ...empty.map(({ control }) => `  - no case fails without ${control}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function casesOf({ idle, killedBy, isByProbeAlone }: KillRow): string {
  if (idle !== undefined) {
    return `not in this agent: ${idle}`;
  }
  return killedBy.length === 0 ? "NONE" : `${names(killedBy)}${isByProbeAlone ? " (with a rule of the suite)" : ""}`;
}

function pairLines(pairs: KillMatrix["pairs"]): readonly string[] {
  return pairs === undefined
    ? []
    : [
        `pairs that stand in for each other: ${pairs.length}`,
        ...pairs.map(({ controls, killedBy }) => `  ${controls.join(" + ")}: ${names(killedBy)}`),
      ];
}
