import { mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectMcp, type McpExecutor, type McpLevels } from "../../../src/adapters/mcp/index.ts";
import { toolContext } from "./fixture.ts";

const fileOf = (peer: string): string => createRequire(import.meta.url).resolve(`@modelcontextprotocol/${peer}`);

async function everything(levels: McpLevels): Promise<McpExecutor> {
  const executor = await connectMcp({
    name: "everything",
    transport: { kind: "stdio", command: process.execPath, args: [fileOf("server-everything/dist/index.js"), "stdio"] },
    levels,
  });
  onTestFinished(() => executor.close());
  return executor;
}

describe("server-everything", { timeout: 30_000 }, () => {
  it("is listed with levels that it does not choose", async () => {
    const executor = await everything({ echo: "read" });
    const levels = Object.fromEntries(executor.listTools().map(({ name, level, risk }) => [name, [level, risk]]));
    expect(levels["echo"]).toEqual(["read", undefined]);
    expect(levels["get-env"]).toEqual(["irreversible", "may_happen_twice_or_unknown"]);
    expect(Object.keys(levels).length).toBeGreaterThan(8);
    expect(executor.excluded).toEqual([]);
    expect(executor.listTools().every(({ untrusted }) => untrusted)).toBe(true);
  });

  it("answers calls: text, structure and pictures", async () => {
    const executor = await everything({ echo: "read", "get-structured-content": "read", "get-tiny-image": "read" });
    const run = async (tool: string, args: object) => await executor.execute(tool, { ...args }, toolContext());
    expect(await run("echo", { message: "hello" })).toEqual({ ok: true, value: "Echo: hello" });
    expect(await run("get-structured-content", { location: "Chicago" })).toMatchObject({
      ok: true,
      value: { temperature: expect.any(Number), conditions: expect.any(String) },
    });
    const image = await run("get-tiny-image", {});
    expect(JSON.stringify(image)).toContain('"mimeType":"image/png"');
    expect(JSON.stringify(image).length).toBeLessThan(500);
  });

  it("never sees wrong arguments", async () => {
    const executor = await everything({ "get-sum": "read" });
    expect(await executor.check("get-sum", { a: "1", b: 2 })).toMatchObject({
      ok: false,
      error: { code: "invalid_arguments", message: 'a: "1" is not a number' },
    });
    expect(await executor.check("get-sum", { a: 1, b: 2 })).toEqual({ ok: true, args: { a: 1, b: 2 } });
  });

  it("is told to stop a long operation, and the connection stays of use", async () => {
    const executor = await everything({ "trigger-long-running-operation": "write", echo: "read" });
    const stop = new AbortController();
    const running = executor.execute(
      "trigger-long-running-operation",
      { duration: 60, steps: 60 },
      toolContext({ signal: stop.signal }),
    );
    expect(await executor.execute("echo", { message: "meanwhile" }, toolContext())).toMatchObject({ ok: true });
    stop.abort();
    expect(await running).toMatchObject({ ok: false, error: { code: "tool_failed" } });
    expect(await executor.execute("echo", { message: "after" }, toolContext())).toMatchObject({ ok: true });
  });
});

describe("server-filesystem", { timeout: 30_000 }, () => {
  async function filesystem(levels: McpLevels) {
    const folder = mkdtempSync(join(tmpdir(), "belay-fs-"));
    writeFileSync(join(folder, "note.txt"), "a note");
    const executor = await connectMcp({
      name: "filesystem",
      transport: {
        kind: "stdio",
        command: process.execPath,
        args: [fileOf("server-filesystem/dist/index.js"), folder],
      },
      levels,
    });
    onTestFinished(async () => {
      await executor.close();
      rmSync(folder, { recursive: true, force: true });
    });
    return { executor, folder };
  }

  it("says itself that a write destroys, which makes a person decide", async () => {
    const { executor } = await filesystem({ write_file: "write", read_text_file: "read" });
    const byName = Object.fromEntries(executor.listTools().map((contract) => [contract.name, contract]));
    expect(byName["write_file"]).toMatchObject({ level: "irreversible", risk: "may_happen_twice_or_unknown" });
    expect(byName["read_text_file"]).toMatchObject({ level: "read", recovery: "read" });
  });

  it("reads, writes and refuses what lies outside", async () => {
    const { executor, folder } = await filesystem({
      read_text_file: "read",
      write_file: { level: "write", failuresAreDefinite: true },
      edit_file: "write",
    });
    const run = async (tool: string, args: object) => await executor.execute(tool, { ...args }, toolContext());
    expect(await run("read_text_file", { path: join(folder, "note.txt") })).toEqual({
      ok: true,
      value: { content: "a note" },
    });
    expect(await run("write_file", { path: join(folder, "new.txt"), content: "new" })).toMatchObject({ ok: true });
    expect(readFileSync(join(folder, "new.txt"), "utf8")).toBe("new");
    const outside = join(folder, "..", "outside.txt");
    expect(await run("read_text_file", { path: outside })).toMatchObject({ error: { code: "mcp_tool_error" } });
    expect(await run("write_file", { path: outside, content: "" })).toMatchObject({
      error: { code: "mcp_tool_error" },
    });
    // Nobody said that a failed edit changed nothing.
    const edit = { path: join(folder, "note.txt"), edits: [{ oldText: "absent", newText: "x" }] };
    expect(await run("edit_file", edit)).toMatchObject({ error: { code: "tool_failed" } });
  });
});
