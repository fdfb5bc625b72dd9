import { type EvalSuite, readDataset } from "belay-harness/evals";
import type { ShopWorld } from "../world/shop-world.ts";
import { checkCase } from "./check-case.ts";
import { applyShopFault } from "./faults.ts";
import { forbiddenInShop } from "./forbidden.ts";
import { effectOfCall, effectsInShop, moneyMovedInShop, untrueInShop } from "./story.ts";

/** The 40 scenarios whose report the source prints. */
export function referenceSuite(): EvalSuite<ShopWorld> {
  return shopSuite("reference");
}

/** Further cases, so that every control, decision code, termination and boundary is reached. */
export function guardsSuite(): EvalSuite<ShopWorld> {
  return shopSuite("guards");
}

function shopSuite(name: string): EvalSuite<ShopWorld> {
  const { cases, version, sha256 } = readDataset(new URL("./", import.meta.url), name);
  cases.forEach(checkCase);
  return {
    name,
    cases,
    dataset: { version, sha256 },
    applyFault: applyShopFault,
    forbiddenIn: forbiddenInShop,
    effects: { inWorld: effectsInShop, ofCall: effectOfCall },
    untrueIn: untrueInShop,
    moneyMovedIn: moneyMovedInShop,
  };
}
