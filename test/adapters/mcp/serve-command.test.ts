import { type ChildProcessWithoutNullStreams, spawn } from "node:child_process";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { connectMcp } from "../../../src/adapters/mcp/index.ts";
import { belay, makeFolder } from "../../cli/belay.ts";
import { toolContext } from "./fixture.ts";

const PROJECT = join(import.meta.dirname, "../../..");
const SHOP = JSON.stringify(join(PROJECT, "apps/shop/index.ts"));
// An app that prints would break the protocol, if what it prints reached stdout.
const NOISY = `import shop from ${SHOP};
console.log("loaded");
export default {
  apps: { shop: async () => ({ default: { ...shop, agent: (world) => (console.log("made"), shop.agent(world)) } }) },
};
`;

interface Serving {
  readonly child: ChildProcessWithoutNullStreams;
  readonly output: { out: string; err: string };
  readonly exit: Promise<number | null>;
}

function serve(args: readonly string[], env: Readonly<Record<string, string>> = {}): Serving {
  const folder = makeFolder({ "belay.config.ts": NOISY });
  const child = spawn(
    process.execPath,
    ["--conditions=belay-source", join(PROJECT, "src/cli/main.ts"), "mcp", "serve", "shop", "--fresh", ...args],
    { cwd: folder, env: { ...process.env, ...env } },
  );
  onTestFinished(() => {
    child.kill("SIGKILL");
  });
  const output = { out: "", err: "" };
  child.stdout.on("data", (chunk) => {
    output.out += chunk;
  });
  child.stderr.on("data", (chunk) => {
    output.err += chunk;
  });
  return { child, output, exit: new Promise((resolve) => child.on("close", resolve)) };
}

const line = (message: object): string => `${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`;
const INITIALIZE = line({
  id: 1,
  method: "initialize",
  params: { protocolVersion: "2025-11-25", capabilities: {}, clientInfo: { name: "t", version: "1" } },
});

describe("belay mcp serve", { timeout: 30_000 }, () => {
  it("writes nothing but the protocol to stdout, whatever an app prints, and ends with its stdin", async () => {
    const { child, output, exit } = serve([]);
    child.stdin.write(INITIALIZE);
    await expect.poll(() => output.out, { timeout: 20_000 }).toContain('"id":1');
    child.stdin.write(line({ id: 2, method: "tools/list" }));
    await expect.poll(() => output.out, { timeout: 20_000 }).toContain('"id":2');
    child.stdin.end();
    expect(await exit).toBe(0);
    const messages = output.out
      .trim()
      .split("\n")
      .map((text) => JSON.parse(text) as { id: number; result: never });
    expect(messages.map(({ id }) => id)).toEqual([1, 2]);
    expect(output.out).toContain('"reset_session_state"');
    expect(output.err).toContain("made");
  });

  it.each(["SIGTERM", "SIGINT"] as const)("serves HTTP until %s, then leaves quietly", async (signal) => {
    const { child, output, exit } = serve(["--transport", "http", "--port", "0", "--json"], { BELAY_MCP_TOKEN: "t" });
    await expect.poll(() => output.out, { timeout: 20_000 }).toContain("}\n");
    const { url, token } = JSON.parse(output.out.slice(output.out.indexOf("{"))) as { url: string; token: boolean };
    expect(token).toBe(true);
    const executor = await connectMcp({
      transport: { kind: "http", url, token: "t" },
      protocol: "modern",
      levels: { get_order: "read" },
    });
    const found = await executor.execute("get_order", { order_id: "O-1001" }, toolContext());
    expect(found).toMatchObject({ ok: true, value: { order: { order_id: "O-1001" } } });
    child.kill(signal);
    expect(await exit).toBe(0);
    expect(await executor.execute("get_order", { order_id: "O-1001" }, toolContext())).toMatchObject({
      error: { code: "mcp_unavailable" },
    });
    await executor.close();
  });

  it.each([
    [["--transport", "carrier-pigeon"], "transport"],
    [["--port", "80"], "--transport http"],
    [["--transport", "http", "--port", "99999"], "--port"],
    [["--transport", "http", "--host", "0.0.0.0"], "loopback"],
  ])("refuses %j", async (args, word) => {
    const { code, stdout, stderr } = await belay(PROJECT, ["mcp", "serve", "shop", "--fresh", ...args]);
    expect({ code, stdout }).toEqual({ code: 2, stdout: "" });
    expect(stderr).toContain(word);
  });

  it("names an app that is not there", async () => {
    const { code, stderr } = await belay(PROJECT, ["mcp", "serve", "nothing"]);
    expect(code).toBe(2);
    expect(stderr).toContain("BELAY_APP_UNKNOWN");
  });
});
