import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { build } from "vite";
import { line } from "./support.ts";

const ENTRY = join(import.meta.dirname, "../dist/index.js");

/** Milliseconds that a fresh process needs to import something, less what an empty import costs. */
function importMs(specifier: string): number {
  const code = `const t = performance.now(); await import(${JSON.stringify(specifier)}); process.stdout.write(String(performance.now() - t))`;
  const runs = Array.from({ length: 9 }, () =>
    Number(execFileSync(process.execPath, ["--input-type=module", "-e", code], { encoding: "utf8" })),
  );
  runs.sort((a, b) => a - b);
  return runs[4] ?? Number.NaN;
}

/** Bundles the built root entry as a user's bundler would and measures it minified and gzipped. */
async function bundledBytes(): Promise<number> {
  const result = await build({
    configFile: false,
    logLevel: "error",
    build: {
      write: false,
      minify: true,
      target: "es2024",
      lib: { entry: ENTRY, formats: ["es"], fileName: "belay" },
      rolldownOptions: { external: [/^node:/] },
    },
  });
  const [first] = Array.isArray(result) ? result : [result];
  if (first === undefined || !("output" in first)) throw new Error("the bundler gave no output");
  const code = first.output.map((chunk) => ("code" in chunk ? chunk.code : "")).join("");
  return gzipSync(code, { level: 9 }).length;
}

export async function benchSize(): Promise<void> {
  line("import of an empty built-in module", `${importMs("node:crypto").toFixed(1)} ms`);
  line("import of the root entry", `${importMs(ENTRY).toFixed(1)} ms`, "under 70 ms");
  line("root entry bundled, minified, gzipped", `${((await bundledBytes()) / 1000).toFixed(1)} kB`, "under 30 kB");
}
