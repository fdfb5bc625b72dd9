import { detectLoops } from "belay-harness/evals";
import { spacedJson } from "../json-text.ts";
import type { StockroomResult } from "../result/run-result.ts";

/** Throws for a run that asked again for a part of what it had asked for already. */
export function assertNoRedundantQueries({ toolRecords }: StockroomResult): void {
  const calls = toolRecords.map(({ step, name, arguments: args }) => ({ step, tool: name, args }));
  const redundant = detectLoops(calls).filter(({ kind }) => kind === "redundant_query");
  if (redundant.length > 0) {
    const shown = redundant.map(
      ({ tool, args, steps }) => `${tool}:${spacedJson(args)} at steps ${spacedJson([...steps])}`,
    );
    const noun = redundant.length === 1 ? "query" : "queries";
    throw new Error(`${redundant.length} redundant ${noun}: ${shown.join("; ")}`);
  }
}
