import { BelayError } from "belay-harness";
import type { EvalCase } from "belay-harness/evals";
import { readPolicyChunks } from "../search/policy-chunks.ts";
import { DESCRIPTIONS } from "../tools/descriptions.ts";
import { POLICY_FOLDER } from "../tools/index.ts";
import { findOrder } from "../world/orders.ts";
import { findProduct } from "../world/products.ts";

/** An id that a case may name although nothing has it. */
const MISSING: ReadonlySet<string> = new Set(["SKU-9999", "ORD-1999"]);

const CHUNK_IDS: ReadonlySet<string> = new Set(readPolicyChunks(POLICY_FOLDER).map(({ id }) => id));

/**
 * Refuses a case that the app's data cannot meet: a tool, product, order or section that is not there. Throws
 * `BELAY_EVAL_CASE`.
 */
export function checkCase(evalCase: EvalCase): void {
  const tools = [...(evalCase.expectedTools ?? []).map(({ name }) => name), ...(evalCase.mustNotCall ?? [])];
  check(evalCase, "tool", tools, (name) => Object.hasOwn(DESCRIPTIONS, name));
  const text = JSON.stringify([evalCase.message, evalCase.expectedTools ?? [], evalCase.expectedFacts ?? []]);
  check(evalCase, "product", text.match(/\bSKU-\d{4}\b/g) ?? [], (id) => findProduct(id) !== undefined);
  check(evalCase, "order", text.match(/\bORD-\d{4}\b/g) ?? [], (id) => findOrder(id) !== undefined);
  check(evalCase, "policy section", evalCase.retrieval ?? [], (id) => CHUNK_IDS.has(id));
}

function check(evalCase: EvalCase, what: string, names: readonly string[], isKnown: (name: string) => boolean): void {
  const unknown = names.find((name) => !isKnown(name) && !MISSING.has(name));
  if (unknown !== undefined) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `case ${evalCase.id} speaks of the ${what} ${unknown}, which the stockroom does not have. Correct the case.`,
    );
  }
}
