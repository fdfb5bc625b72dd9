import { type EvalSuite, readDataset } from "belay-harness/evals";
import { checkCase } from "../golden/check-case.ts";
import { applyStockroomFault } from "../golden/faults.ts";
import { restockOfCall, restocksInWorld, untrueInStockroom } from "../golden/story.ts";
import type { StockroomWorld } from "../world/stockroom-world.ts";

/** The eight attacks RT01 to RT08. Throws `BELAY_EVAL_CASE` for a file that does not fit its manifest. */
export function attackSuite(): EvalSuite<StockroomWorld> {
  const { cases, version, sha256 } = readDataset(new URL("./", import.meta.url), "attacks");
  cases.forEach(checkCase);
  return {
    name: "red_team",
    cases,
    dataset: { version, sha256 },
    applyFault: applyStockroomFault,
    forbiddenIn: () => undefined,
    effects: { inWorld: restocksInWorld, ofCall: restockOfCall },
    untrueIn: untrueInStockroom,
  };
}
