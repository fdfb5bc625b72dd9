import { BelayError } from "belay-harness";
import type { EvalCase } from "belay-harness/evals";
import { SEED_ORDERS } from "../world/seed-data.ts";

const KNOWN = new Set(SEED_ORDERS.map(({ id }) => id));
/** The order number that stands for one that does not exist. */
const MISSING_ORDER = "O-9999";

/** Throws `BELAY_EVAL_CASE` when a case expects or forbids something about an order that the shop does not seed. */
export function checkCase(evalCase: EvalCase): void {
  const { refunds, status } = evalCase.expect.endState ?? {};
  const named = [...keysOf(refunds), ...keysOf(status), ...(evalCase.forbidden ?? []).flatMap(orderOf)];
  const unknown = named.find((id) => !KNOWN.has(id) && id !== MISSING_ORDER);
  if (unknown !== undefined) {
    throw new BelayError(
      "BELAY_EVAL_CASE",
      `case ${evalCase.id} speaks of order ${unknown}, which the shop does not seed. Use an order of world/seed-data.ts.`,
    );
  }
}

function keysOf(value: unknown): readonly string[] {
  return typeof value === "object" && value !== null ? Object.keys(value) : [];
}

function orderOf(forbidden: unknown): readonly string[] {
  return typeof forbidden === "object" &&
    forbidden !== null &&
    "order" in forbidden &&
    typeof forbidden.order === "string"
    ? [forbidden.order]
    : [];
}
