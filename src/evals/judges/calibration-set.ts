import { parseStrictJson } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import { type Field, filledText, listOf, oneOf, record, text } from "../field-check.ts";
import type { GradedAnswer } from "./judge.ts";

export const BIASES = ["position", "verbosity", "self_preference"] as const;

export type Bias = (typeof BIASES)[number];

/** An answer with what people say of it, or one of several that a fair judge grades alike. */
export type CalibrationItem = GradedAnswer & { readonly id: string } & (
    | { readonly kind: "graded"; readonly label: "pass" | "fail" }
    /** Probes of one group differ only in what must not count. */
    | { readonly kind: "probe"; readonly bias: Bias; readonly group: string }
  );

const ANSWER: Readonly<Record<string, Field>> = {
  id: filledText,
  question: filledText,
  answer: filledText,
  facts: listOf(filledText),
};
const OPTIONAL: Readonly<Record<string, Field>> = {
  forbiddenFacts: listOf(filledText),
  beside: record({ answer: text, position: oneOf("before", "after") }),
  author: filledText,
};
const GRADED = record({ ...ANSWER, kind: oneOf("graded"), label: oneOf("pass", "fail") }, OPTIONAL);
const PROBE = record({ ...ANSWER, kind: oneOf("probe"), bias: oneOf(...BIASES), group: filledText }, OPTIONAL);

/**
 * Reads a calibration set from JSONL, one item a line.
 *
 * Throws `BELAY_EVAL_CASE` with the line for an item that is written wrongly or without a fact, an id used twice, and a
 * probe that stands alone: it has nothing to be compared with.
 */
export function parseCalibration(jsonl: string, source: string): readonly CalibrationItem[] {
  const items = jsonl
    .split("\n")
    .map((line, at) => ({ line, where: `${source} line ${at + 1}` }))
    .filter(({ line }) => line.trim() !== "")
    .map(({ line, where }) => parseItem(line, where));
  const ids = items.map(({ id }) => id);
  const twice = ids.find((id, at) => ids.indexOf(id) !== at);
  if (twice !== undefined) {
    throw invalid(source, `the id ${twice} is used twice`);
  }
  const groups = Map.groupBy(
    items.filter((item) => item.kind === "probe"),
    ({ group }) => group,
  );
  const lonely = [...groups].find(([, group]) => group.length < 2 || new Set(group.map(({ bias }) => bias)).size > 1);
  if (lonely !== undefined) {
    throw invalid(source, `the probes of group ${lonely[0]} cannot be compared: give two or more, all of one bias`);
  }
  return items;
}

function parseItem(line: string, where: string): CalibrationItem {
  const parsed = parseStrictJson(line);
  if (!parsed.ok) {
    throw invalid(where, `it is not one JSON value: ${parsed.message}`);
  }
  const isProbe = typeof parsed.value === "object" && parsed.value !== null && "bias" in parsed.value;
  const problem = (isProbe ? PROBE : GRADED).check(parsed.value, "");
  if (problem !== undefined) {
    throw invalid(where, `${problem.path || "the item"} ${problem.problem}`);
  }
  // Checked field by field just above.
  const item = parsed.value as unknown as CalibrationItem;
  if (item.facts.length === 0) {
    throw invalid(where, "without a fact every answer is right");
  }
  return item;
}

function invalid(where: string, problem: string): BelayError {
  return new BelayError("BELAY_EVAL_CASE", `${where}: ${problem}. Correct the calibration set.`);
}
