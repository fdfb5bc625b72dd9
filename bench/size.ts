import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { bundleOf } from "./bundle.ts";
import { line } from "./support.ts";

const ENTRY = join(import.meta.dirname, "../dist/index.js");

/** Milliseconds that a fresh process needs to import something. */
function importMs(specifier: string): number {
  const code = `const t = performance.now(); await import(${JSON.stringify(specifier)}); process.stdout.write(String(performance.now() - t))`;
  const runs = Array.from({ length: 11 }, () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" })),
  );
  runs.sort((a, b) => a - b);
  return runs[5] ?? Number.NaN;
}

export async function benchSize(): Promise<void> {
  const { bytes } = await bundleOf(ENTRY);
  line("import of one built-in module", `${importMs("node:crypto").toFixed(1)} ms`);
  line("import of the root entry", `${importMs(ENTRY).toFixed(1)} ms`, "under 70 ms");
  line("root entry bundled, minified, gzipped", `${(bytes / 1000).toFixed(1)} kB`, "under 30 kB");
}
