import { parseStrictJson } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { DOCUMENT_SCHEMA, type EvalDocument } from "./document.ts";
import { anyJson, count, filledText, flag, listOf, mapOf, object, oneOf, record, text } from "./field-check.ts";

const HEAD = record(
  {
    schema: oneOf(DOCUMENT_SCHEMA),
    subject: record(
      {
        app: filledText,
        mode: oneOf("deterministic", "live"),
        agentModel: filledText,
        judge: anyJson,
        transport: filledText,
        repeats: count,
        datasets: mapOf(filledText),
        policyHash: filledText,
        promptHash: filledText,
        toolSpecHash: filledText,
        priceTableHash: filledText,
      },
      {},
    ),
    weaknesses: listOf(filledText),
    without: listOf(filledText),
    metrics: mapOf(mapOf(anyJson)),
    classes: mapOf(mapOf(mapOf(anyJson))),
    cases: listOf(record({ suite: filledText, id: filledText, class: filledText, repeats: listOf(object) })),
    madeWith: object,
    date: text,
  },
  { redTeam: listOf(record({ id: filledText, class: filledText, passed: flag, reasons: listOf(text) })) },
);

/** Reads a document of results; `source` names it in errors. Throws `BELAY_EVAL_CASE` for a text that is none. */
export function parseDocument(json: string, source: string): EvalDocument {
  const parsed = parseStrictJson(json);
  const problem = parsed.ok ? HEAD.check(parsed.value, "") : { path: "", problem: `is not JSON: ${parsed.message}` };
  if (problem === undefined && parsed.ok) {
    // Checked field by field just above.
    return parsed.value as unknown as EvalDocument;
  }
  throw new BelayError(
    "BELAY_EVAL_CASE",
    `${source} is no document of results: ${problem?.path ? `"${problem.path}" ` : "it "}${problem?.problem ?? ""}. ` +
      "Write it again with belay gate --write-baseline.",
  );
}
