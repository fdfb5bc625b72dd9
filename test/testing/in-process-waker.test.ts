import { execFile } from "node:child_process";
import { fileURLToPath } from "node:url";
import { promisify } from "node:util";
import { describe, expect, it } from "vitest";
import { createInProcessWaker } from "../../src/engine/in-process-waker.ts";
import { wakerConformance } from "../../src/testing/index.ts";

describe("the in-process waker keeps every promise of a waker", () => {
  const open = async () => ({ waker: createInProcessWaker({ redeliveryMs: 50 }), close: async () => undefined });
  for (const { name, run } of wakerConformance(open)) {
    it(name, run, 30_000);
  }
});

it("its timers do not keep the process alive", async () => {
  const child = fileURLToPath(new URL("./children/idle-waker.ts", import.meta.url));
  const run = promisify(execFile)(process.execPath, ["--conditions=belay-source", child], { timeout: 20_000 });
  await expect(run).resolves.toMatchObject({ stderr: "" });
}, 30_000);
