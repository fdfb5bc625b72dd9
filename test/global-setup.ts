import { ensureChromium } from "../scripts/ensure-chromium.ts";
import { ensurePostgres } from "../scripts/ensure-postgres.ts";

/**
 * Before the first test: what some tests need of the machine is installed where it is missing and may be.
 *
 * Without PostgreSQL its tests are skipped; without Chromium its tests fail. Both say what to do.
 */
export default function setup(): void {
  const chromium = ensureChromium();
  if ("problem" in chromium) say(chromium.problem);
  try {
    ensurePostgres();
  } catch (error) {
    say(error instanceof Error ? error.message : "PostgreSQL could not be installed");
  }
}

function say(line: string): void {
  process.stderr.write(`${line}\n`);
}
