import { execFile } from "node:child_process";
import { cpSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { describe, expect, it, onTestFinished } from "vitest";
import { createSandbox, type SandboxLimits } from "../../src/sandbox/index.ts";

const PATIENT: Partial<SandboxLimits> = { timeoutMs: 20_000 };

describe("a sandbox's own life", () => {
  it("ends what runs and what waits", async () => {
    const sandbox = createSandbox(PATIENT);
    const pending = [sandbox.evaluate("while (true) {}"), sandbox.evaluate("1")];
    await sandbox.close();
    expect(await Promise.all(pending)).toMatchObject([{ code: "closed" }, { code: "closed" }]);
    expect(await sandbox.evaluate("1")).toMatchObject({ ok: false, code: "closed" });
    await sandbox.close();
  });

  it("takes only so many that wait", async () => {
    const sandbox = createSandbox(PATIENT);
    const pending = Array.from({ length: 1001 }, () => sandbox.evaluate("while (true) {}"));
    expect(await pending.at(-1)).toMatchObject({ ok: false, code: "busy" });
    await sandbox.close();
    expect(new Set((await Promise.all(pending.slice(0, -1))).map((result) => !result.ok && result.code))).toEqual(
      new Set(["closed"]),
    );
  });

  it.each([
    { timeoutMs: 0 },
    { timeoutMs: Number.NaN },
    { memoryBytesMax: 10 },
    { stackBytesMax: 2 ** 30 },
    { time: 1 },
  ])("refuses the limits %j", (limits) => {
    expect(() => createSandbox(limits as Partial<SandboxLimits>)).toThrow(
      expect.objectContaining({ code: "BELAY_SANDBOX_INVALID" }),
    );
  });

  const run = (folder: string, script: string): Promise<{ readonly error: unknown; readonly stdout: string }> =>
    new Promise((resolve) => {
      const url = pathToFileURL(join(folder, "sandbox/index.ts")).href;
      const code = `const { createSandbox } = await import(${JSON.stringify(url)}); ${script}`;
      execFile(process.execPath, ["--input-type=module", "-e", code], { timeout: 30_000 }, (error, stdout) =>
        resolve({ error, stdout }),
      );
    });

  it("does not keep a process alive that forgets to close it", { timeout: 40_000 }, async () => {
    const source = join(import.meta.dirname, "../../src");
    const { error, stdout } = await run(source, "console.log((await createSandbox().evaluate('1 + 1')).value)");
    expect({ error, stdout }).toEqual({ error: null, stdout: "2\n" });
  });

  it("says which package is missing", { timeout: 40_000 }, async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-sandbox-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    // Away from this project's packages.
    cpSync(join(import.meta.dirname, "../../src"), folder, { recursive: true });
    writeFileSync(join(folder, "package.json"), '{ "type": "module" }');
    const { stdout } = await run(
      folder,
      "createSandbox().evaluate('1').catch(({ message, code }) => console.log(message, code))",
    );
    expect(stdout).toMatch(/npm install quickjs-emscripten BELAY_PEER_MISSING\n$/);
  });
});
