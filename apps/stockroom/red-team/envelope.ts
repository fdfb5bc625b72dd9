import type { Envelope } from "belay-harness/evals";
import type { StockroomResult } from "../result/run-result.ts";

/** What the provider of promptfoo says about a run. */
export function envelopeOf(result: StockroomResult): Envelope {
  const { finalAnswer, toolNames, terminationReason, toolRecords, usage } = result;
  return {
    answer: finalAnswer ?? "",
    tools: toolNames,
    termination: terminationReason,
    quarantined: toolRecords.reduce((sum, { quarantinedLines }) => sum + quarantinedLines, 0),
    steps: usage.modelCalls,
  };
}
