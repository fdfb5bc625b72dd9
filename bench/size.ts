import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";
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

/** The built root entry as a user's bundler makes it, minified and gzipped: all that it loads before its first use. */
async function bundledBytes(): Promise<number> {
  const bundle = await rolldown({ input: ENTRY, external: [/^node:/], platform: "node" });
  const { output } = await bundle.generate({ format: "es", minify: true });
  await bundle.close();
  const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
  const needed = new Set<string>();
  const visit = (name: string): void => {
    const chunk = chunks.get(name);
    if (chunk === undefined || needed.has(name)) return;
    needed.add(name);
    // Chunks that are only imported on demand are left out.
    for (const other of chunk.imports) visit(other);
  };
  visit(output[0].fileName);
  return [...needed].reduce((sum, name) => sum + gzipSync(chunks.get(name)?.code ?? "", { level: 9 }).length, 0);
}

export async function benchSize(): Promise<void> {
  line("import of one built-in module", `${importMs("node:crypto").toFixed(1)} ms`);
  line("import of the root entry", `${importMs(ENTRY).toFixed(1)} ms`, "under 70 ms");
  line("root entry bundled, minified, gzipped", `${((await bundledBytes()) / 1000).toFixed(1)} kB`, "under 30 kB");
}
