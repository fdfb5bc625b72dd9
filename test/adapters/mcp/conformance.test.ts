import { spawn } from "node:child_process";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { createMcpToolServer, listenMcp, type McpToolServer } from "../../../src/adapters/mcp/index.ts";
import { allow } from "../../../src/index.ts";
import { addExtras } from "./conformance/fixture-extras.ts";
import { presentFixture } from "./conformance/fixture-questions.ts";
import { fixtureTools } from "./conformance/fixture-tools.ts";

const PACKAGE = dirname(createRequire(import.meta.url).resolve("@modelcontextprotocol/conformance/package.json"));
const SUITE = join(PACKAGE, "dist/index.js");

/** The server scenarios that a revision requires, as the suite's own list names them. */
function requiredScenarios(revision: string): readonly string[] {
  const list = readFileSync(join(PACKAGE, "requirements", `${revision}.yaml`), "utf8");
  const [, server = ""] = /^server:\n((?: {2}- .*\n)+)/m.exec(list) ?? [];
  return [...server.matchAll(/- (\S+)/g)].map(([, name = ""]) => name);
}

/** Every fixture is a changing tool behind a rule, so each call that the suite makes passes through the policy. */
function fixtureServer(): McpToolServer {
  const server: McpToolServer = createMcpToolServer({
    name: "belay-conformance",
    version: "1",
    tools: fixtureTools((what) => server.changed(what)),
    rules: [{ id: "fixtures", decide: () => allow("OK", "a fixture of the suite") }],
    present: presentFixture,
    configure: addExtras,
  });
  return server;
}

/** Runs the official suite against a server, as `conformance server --url <url> --requirements <revision>`. */
async function runSuite(
  url: string,
  revision: string,
): Promise<{ readonly code: number | null; readonly text: string }> {
  const folder = mkdtempSync(join(tmpdir(), "belay-conformance-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const child = spawn(
    process.execPath,
    [SUITE, "server", "--url", url, "--requirements", revision, "--output-dir", folder],
    { cwd: folder, stdio: ["ignore", "pipe", "pipe"] },
  );
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  let text = "";
  child.stdout.on("data", (chunk) => {
    text += chunk;
  });
  child.stderr.on("data", (chunk) => {
    text += chunk;
  });
  return await new Promise((resolve) => {
    child.on("close", (code) => resolve({ code, text }));
  });
}

describe("the official conformance suite", () => {
  it.each([
    { revision: "2026-07-28", count: 37 },
    { revision: "2025-11-25", count: 30 },
  ])("finds the $count required scenarios of $revision met", { timeout: 240_000 }, async ({ revision, count }) => {
    await using server = fixtureServer();
    await using listener = await listenMcp(server);
    const { code, text } = await runSuite(listener.url, revision);
    const required = requiredScenarios(revision);
    expect(required).toHaveLength(count);
    const missed = required.filter((name) => !new RegExp(`^✓ ${name}: [1-9]\\d* passed, 0 failed`, "m").test(text));
    expect(missed).toEqual([]);
    expect(code, text.slice(-4000)).toBe(0);
  });
});
