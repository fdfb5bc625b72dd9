import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createPrinter } from "./printer.ts";
import { runSteps } from "./run-steps.ts";
import { createStage } from "./stage.ts";
import { DEMO_STEPS } from "./steps.ts";

const [option, ...others] = process.argv.slice(2);
const isKept = option === "--keep";

if ((option !== undefined && !isKept) || others.length > 0) {
  process.stderr.write("Usage: npm run demo [-- --keep]   (--keep leaves the databases for a look with belay --db)\n");
  process.exitCode = 2;
} else {
  process.exitCode = await tell();
}

/** Tells the whole story in a fresh folder; 0 when every claim held, else 1. */
async function tell(): Promise<0 | 1> {
  const folder = mkdtempSync(join(tmpdir(), "belay-demo-"));
  const printer = createPrinter(process.stdout);
  printer.heading("Belay: the shop's support agent, its offline planner, a real SQLite shop");
  const told = await runSteps(createStage(folder, printer), DEMO_STEPS);
  if (!told.ok) {
    process.stderr.write(`\n${told.problem}\nThe databases are kept in ${folder}\n`);
    return 1;
  }
  if (isKept) {
    process.stdout.write(`\nAll ${DEMO_STEPS.length} steps hold. The databases are kept in ${folder}\n`);
    return 0;
  }
  rmSync(folder, { recursive: true, force: true });
  process.stdout.write(`\nAll ${DEMO_STEPS.length} steps hold.\n`);
  return 0;
}
