import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { rolldown } from "rolldown";

/** One change of the source, as text that stands in one file exactly once. */
export interface Patch {
  /** Path below `src/`. */
  readonly file: string;
  readonly from: string;
  readonly to: string;
}

export interface Program extends Disposable {
  readonly path: string;
}

/** Builds the child's program into one file, so that a life costs little to begin; patches make a mutant of it. */
export async function buildProgram(patches: readonly Patch[] = []): Promise<Program> {
  const folder = mkdtempSync(join(tmpdir(), "belay-crash-program-"));
  const program = {
    path: join(folder, "child.mjs"),
    [Symbol.dispose]: () => rmSync(folder, { recursive: true, force: true }),
  };
  try {
    await bundleTo(program.path, patches);
    return program;
  } catch (error) {
    program[Symbol.dispose]();
    throw error;
  }
}

async function bundleTo(path: string, patches: readonly Patch[]): Promise<void> {
  const applied = new Set<Patch>();
  const bundle = await rolldown({
    input: fileURLToPath(new URL("./child/main.ts", import.meta.url)),
    platform: "node",
    plugins: [
      {
        name: "patch",
        transform: (code: string, id: string) => {
          let text = code;
          for (const patch of patches.filter(({ file }) => id.endsWith(`/src/${file}`))) {
            const found = text.split(patch.from).length - 1;
            if (found !== 1)
              throw new Error(`src/${patch.file} holds the text of a mutant ${found} times: ${patch.from}`);
            text = text.replace(patch.from, () => patch.to);
            applied.add(patch);
          }
          return text === code ? null : text;
        },
      },
    ],
  });
  await bundle.write({ file: path, format: "esm", codeSplitting: false });
  await bundle.close();
  const missed = patches.find((patch) => !applied.has(patch));
  if (missed !== undefined) throw new Error(`no file src/${missed.file} is part of the program`);
}
