/**
 * `node scripts/screenshots.ts [folder]`: takes the pictures of `docs/screenshots` in a real browser, from two weeks of a
 * support desk that is played anew. They are made by a test file, because that compiles the pages as the tests do.
 */
import { spawnSync } from "node:child_process";
import { join, resolve } from "node:path";
import { ensureChromium } from "./ensure-chromium.ts";

const project = join(import.meta.dirname, "..");
const browser = ensureChromium();
if ("problem" in browser) {
  process.stderr.write(`${browser.problem}\n`);
  process.exit(1);
}
const folder = resolve(process.argv[2] ?? join(project, "docs/screenshots"));
const { status } = spawnSync(
  process.execPath,
  [join(project, "node_modules/vitest/vitest.mjs"), "run", "test/server/pages/screenshots.test.ts"],
  { cwd: project, stdio: "inherit", env: { ...process.env, BELAY_SCREENSHOTS: folder } },
);
process.exit(status ?? 1);
