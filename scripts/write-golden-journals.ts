/**
 * Writes the golden journals of this version, once, when it is released: `node scripts/write-golden-journals.ts`.
 *
 * Every later version must read them. A folder that is there is never written again, because that would hide a change
 * of what was stored.
 */
import { existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { expectedOf, goldenLines } from "../test/golden-journals/golden.ts";
import { SCENARIOS } from "../test/golden-journals/scenarios.ts";

const root = join(import.meta.dirname, "..");
const { version } = JSON.parse(readFileSync(join(root, "package.json"), "utf8")) as { readonly version: string };
const folder = join(process.argv[2] ?? join(root, "test/golden-journals"), version);

if (existsSync(folder)) {
  process.stderr.write(`${folder} is there and stays as it is. Release a new version, or remove it by hand.\n`);
  process.exitCode = 1;
} else {
  mkdirSync(folder, { recursive: true });
  const expected: Record<string, unknown> = {};
  for (const [name, make] of Object.entries(SCENARIOS)) {
    const { options } = await make();
    const lines = await goldenLines(options.store);
    writeFileSync(join(folder, `${name}.jsonl`), lines.map((line) => `${JSON.stringify(line)}\n`).join(""));
    expected[name] = expectedOf(lines);
  }
  writeFileSync(join(folder, "expected.json"), `${JSON.stringify(expected, undefined, 2)}\n`);
  process.stdout.write(`${Object.keys(SCENARIOS).length} golden journals in ${folder}\n`);
}
