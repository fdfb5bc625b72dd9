import { readFileSync } from "node:fs";
import { type EvalSuite, parseCases } from "belay-harness/evals";
import type { StockroomWorld } from "../world/stockroom-world.ts";
import { checkCase } from "./check-case.ts";
import { applyStockroomFault } from "./faults.ts";
import { checkManifest, type Manifest } from "./manifest.ts";
import { askBeforeRestock } from "./probes.ts";
import { restockOfCall, restocksInWorld, untrueInStockroom } from "./story.ts";

/** The 50 golden cases, which the app's offline planner answers by itself. */
export function referenceSuite(): EvalSuite<StockroomWorld> {
  return stockroomSuite("reference");
}

/** Scripted cases for the limits and refusals that an honest planner never reaches. */
export function guardsSuite(): EvalSuite<StockroomWorld> {
  return stockroomSuite("guards");
}

/** Reads a suite and refuses one that does not fit its manifest or the app's data. Throws `BELAY_EVAL_CASE`. */
function stockroomSuite(name: string): EvalSuite<StockroomWorld> {
  const file = `${name}.jsonl`;
  const text = read(file);
  const cases = parseCases(text, `apps/stockroom/golden/${file}`);
  const manifest = JSON.parse(read("manifest.json")) as Manifest;
  checkManifest(manifest, file, text, cases);
  cases.forEach(checkCase);
  return {
    name,
    cases,
    dataset: { version: manifest.version, sha256: manifest.files[file]?.sha256 ?? "" },
    applyFault: applyStockroomFault,
    probes: { ask_before_restock: askBeforeRestock },
    effects: { inWorld: restocksInWorld, ofCall: restockOfCall },
    untrueIn: untrueInStockroom,
    forbiddenIn: (world, forbidden) => {
      const { requests } = world.snapshot();
      const made = requests.filter(({ sku }) => forbidden === sku);
      return made.length === 0 ? undefined : `forbidden: a restock of ${made.map(({ sku }) => sku).join(", ")}`;
    },
  };
}

function read(file: string): string {
  return readFileSync(new URL(file, import.meta.url), "utf8");
}
