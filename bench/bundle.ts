import { gzipSync } from "node:zlib";
import { rolldown } from "rolldown";

export interface Bundled {
  /** Minified and gzipped, in bytes. */
  readonly bytes: number;
  /** File names of what is loaded before the first use of an entry; what it imports on demand is left out. */
  readonly pieces: readonly string[];
}

/** An entry as a user's bundler makes it. */
export async function bundleOf(entry: string): Promise<Bundled> {
  const bundle = await rolldown({ input: entry, external: [/^node:/], platform: "node" });
  const { output } = await bundle.generate({ format: "es", minify: true });
  await bundle.close();
  const chunks = new Map(output.flatMap((file) => (file.type === "chunk" ? [[file.fileName, file] as const] : [])));
  const needed = new Set<string>();
  const visit = (name: string): void => {
    const chunk = chunks.get(name);
    if (chunk === undefined || needed.has(name)) return;
    needed.add(name);
    for (const other of chunk.imports) visit(other);
  };
  visit(output[0].fileName);
  const sizes = [...needed].map((name) => gzipSync(chunks.get(name)?.code ?? "", { level: 9 }).length);
  return { bytes: sizes.reduce((sum, size) => sum + size, 0), pieces: [...needed] };
}
