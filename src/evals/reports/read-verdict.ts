import { parseStrictJson } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import { filledText, flag, listOf, oneOf, record } from "../field-check.ts";
import { type DocumentVerdict, GATE_STAGES } from "../gate-document.ts";

const VERDICT = record({
  passed: flag,
  failures: listOf(record({ stage: oneOf(...GATE_STAGES), problem: filledText })),
  notes: listOf(filledText),
});

/** Reads what `belay gate --json` printed; `source` names it in errors. Throws `BELAY_EVAL_CASE`. */
export function readVerdict(json: string, source: string): DocumentVerdict {
  const parsed = parseStrictJson(json);
  const problem = parsed.ok ? VERDICT.check(parsed.value, "") : { path: "", problem: `is not JSON: ${parsed.message}` };
  if (!parsed.ok || problem !== undefined) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `${source} is no verdict of the gate: ${problem?.path || "it"} ${problem?.problem}. Write it with belay gate --json.`,
    );
  }
  // Checked field by field just above.
  return parsed.value as unknown as DocumentVerdict;
}
