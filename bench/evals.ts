/** `node bench/evals.ts` after a build: how long the suites, the full ablation and the statistics take. */

import { ablate, caseBootstrap, clopperPearson, openSuite, runSuite, wilson } from "belay-harness/evals";
import shop from "../apps/shop/index.ts";
import { createStockroomApp } from "../apps/stockroom/create-app.ts";
import { line } from "./support.ts";

const CASES = 10_000;

async function seconds(work: () => Promise<unknown> | unknown): Promise<string> {
  const [start, before] = [performance.now(), process.cpuUsage()];
  await work();
  const { user, system } = process.cpuUsage(before);
  // On a machine that does other things the time of the processor says more.
  return `${((performance.now() - start) / 1000).toFixed(2)} s (${((user + system) / 1e6).toFixed(2)} s of CPU)`;
}

function statisticsOfMany(): void {
  const scores = Array.from({ length: CASES }, (_, at) => [((at * 7919) % 1000) / 1000]);
  caseBootstrap(scores);
  wilson(CASES - 3, CASES);
  clopperPearson(CASES - 3, CASES);
}

export async function benchEvals(): Promise<void> {
  const stockroom = createStockroomApp();
  line("shop, 40 scenarios", await seconds(() => runSuite(shop, "reference")), "under 3 s");
  line("stockroom, 50 golden cases", await seconds(() => runSuite(stockroom, "reference")), "under 2 s");
  line("statistics of 10,000 cases", await seconds(statisticsOfMany), "under 1 s");
  const suites = await Promise.all(["reference", "guards"].map((name) => openSuite(shop, name)));
  line("full ablation of the shop", await seconds(() => ablate(shop, suites)), "under 60 s");
}

if (process.argv[1] === import.meta.filename) await benchEvals();
