import { execFile } from "node:child_process";
import { readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { temporaryFolder } from "../sqlite/temporary-folder.ts";

const CHILD = fileURLToPath(new URL("./children/dying-graph.ts", import.meta.url));

function live(folder: string, kind: string): Promise<{ readonly signal: string | null; readonly stdout: string }> {
  return new Promise((resolve) => {
    execFile(process.execPath, ["--conditions=belay-source", CHILD, folder, kind], (error, stdout) =>
      resolve({ signal: error?.signal ?? null, stdout }),
    );
  });
}

it.each([
  ["langgraph", 2],
  ["belay", 1],
] as const)(
  "a kill between the effect and the checkpoint: %s pays %i time(s)",
  async (kind, times) => {
    const folder = temporaryFolder();
    writeFileSync(join(folder, "bomb"), "");
    expect(await live(folder, kind)).toEqual({ signal: "SIGKILL", stdout: "" });
    const second = await live(folder, kind);
    expect(second).toMatchObject({ signal: null, stdout: expect.stringContaining("paid") });
    expect(readFileSync(join(folder, "effects"), "utf8").trim().split("\n")).toHaveLength(times);
  },
  60_000,
);
