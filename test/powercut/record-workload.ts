import { spawn, spawnSync } from "node:child_process";
import { once } from "node:events";
import { mkdirSync, readFileSync, realpathSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import type { Acknowledgement, Mutant } from "./protocol.ts";
import { type RecordedOp, readRecord } from "./read-record.ts";

export const STORE_NAME = "belay.db";

const RECORDER = fileURLToPath(new URL("./recorder.c", import.meta.url));
const RECORDED = fileURLToPath(new URL("./children/recorded.ts", import.meta.url));

/** Why nothing can be recorded on this machine, or undefined when it can. */
export function whyNot(): string | undefined {
  if (process.platform !== "linux") return `LD_PRELOAD and /proc are needed, and this is ${process.platform}`;
  return spawnSync("cc", ["--version"]).status === 0 ? undefined : "there is no C compiler (cc) on this machine";
}

/** Compiles the recorder into the folder; returns the path of the library. */
export function compileRecorder(folder: string): string {
  const library = join(folder, "recorder.so");
  const compiled = spawnSync("cc", ["-shared", "-fPIC", "-O2", "-o", library, RECORDER, "-ldl", "-lpthread"], {
    encoding: "utf8",
  });
  if (compiled.status !== 0) throw new Error(`the recorder does not compile: ${compiled.stderr}`);
  return library;
}

export interface Workload {
  readonly ops: readonly RecordedOp[];
  readonly acknowledgements: readonly Acknowledgement[];
}

/** Lets a process work on a store in a new folder below `folder`, and records it. */
export async function recordWorkload(folder: string, library: string, mutant: Mutant): Promise<Workload> {
  // As the kernel names it, which is how the recorder sees it.
  const disk = join(realpathSync(folder), `disk-${mutant}`);
  const record = join(folder, `record-${mutant}`);
  mkdirSync(disk);
  const child = spawn(
    process.execPath,
    ["--conditions=belay-source", RECORDED, join(disk, STORE_NAME), record, mutant],
    {
      stdio: ["ignore", "pipe", "inherit"],
      env: {
        ...process.env,
        LD_PRELOAD: library,
        POWERCUT_FOLDER: disk,
        POWERCUT_RECORD: record,
        ...(mutant === "lie" && { POWERCUT_SYNC: "lie" }),
      },
    },
  );
  let printed = "";
  child.stdout.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  const [code] = (await once(child, "close")) as [number | null];
  if (code !== 0) throw new Error(`the recorded process ended with ${String(code)}`);
  const acknowledgements = printed
    .split("\n")
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Acknowledgement);
  return { ops: readRecord(readFileSync(record)), acknowledgements };
}
