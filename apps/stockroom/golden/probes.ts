import { ask, defineRule, deny, type Rule, type RuleCall } from "belay-harness";
import type { StockroomWorld } from "../world/stockroom-world.ts";

/**
 * A rule that the app does not have: a buyer must agree to every request, and nobody orders what is ordered already.
 *
 * No rule of the app asks a person, so without it no case could show that the harness would wait for one.
 */
export function askBeforeRestock(world: StockroomWorld): readonly Rule[] {
  return [
    defineRule({
      id: "ask_before_restock",
      tools: ["create_restock_request"],
      decide: (call) => {
        const sku = skuOf(call);
        return world.all().some((request) => request.sku === sku)
          ? deny("ORDERED_ALREADY", `there is a request for ${sku} already`)
          : ask("BUYER_MUST_AGREE", "a buyer must agree");
      },
    }),
  ];
}

function skuOf({ args }: RuleCall): string {
  return typeof args === "object" && args !== null && "sku" in args ? String(args["sku"]) : "";
}
