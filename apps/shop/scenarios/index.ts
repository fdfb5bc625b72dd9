import { readFileSync } from "node:fs";
import { type EvalSuite, parseCases } from "belay-harness/evals";
import type { ShopWorld } from "../world/shop-world.ts";
import { checkCase } from "./check-case.ts";
import { applyShopFault } from "./faults.ts";
import { forbiddenInShop } from "./forbidden.ts";

/** The 40 scenarios whose report the source prints. */
export function referenceSuite(): EvalSuite<ShopWorld> {
  return shopSuite("reference");
}

/** Further cases, so that every control, decision code, termination and boundary is reached. */
export function guardsSuite(): EvalSuite<ShopWorld> {
  return shopSuite("guards");
}

function shopSuite(name: string): EvalSuite<ShopWorld> {
  const file = new URL(`${name}.jsonl`, import.meta.url);
  const cases = parseCases(readFileSync(file, "utf8"), `apps/shop/scenarios/${name}.jsonl`);
  cases.forEach(checkCase);
  return { name, cases, applyFault: applyShopFault, forbiddenIn: forbiddenInShop };
}
