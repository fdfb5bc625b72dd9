import { Console } from "node:console";
import { join } from "node:path";
import type { CallerTrust, McpToolServer } from "../adapters/mcp/index.ts";
import type { AnyApp, World } from "../config.ts";
import type { Agent } from "../engine/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  DATABASE_OPTIONS,
  hasFlag,
  JSON_OPTION,
  textOption,
} from "./command.ts";
import { evalApp, SUITE_OPTIONS } from "./eval-suites.ts";
import { loadMcp } from "./mcp-load.ts";
import { placeOf } from "./place.ts";
import { choice, usageError, wholeNumber } from "./usage.ts";

const TRANSPORTS = ["stdio", "http"] as const;
/** From the environment, because arguments of a process are for everybody to see. */
const TOKEN_VARIABLE = "BELAY_MCP_TOKEN";
const PORT_DEFAULT = 3210;

export const mcpServeCommand: Command = {
  name: "mcp serve",
  summary: "serve an app's tools over the Model Context Protocol",
  positionals: [{ name: "app" }],
  options: {
    transport: {
      type: "string",
      value: "stdio|http",
      help: `default stdio; http wants the token of ${TOKEN_VARIABLE} if it is set`,
    },
    port: { type: "string", value: "n", help: `port of http, or 0 for a free one (default ${PORT_DEFAULT})` },
    host: { type: "string", value: "address", help: "loopback address of http (default 127.0.0.1)" },
    fresh: { type: "boolean", help: "serve a fresh world in memory instead of the project's" },
    weaknesses: SUITE_OPTIONS.weaknesses,
    ...JSON_OPTION,
    db: DATABASE_OPTIONS.db,
    ...CONFIG_OPTIONS,
  },
  examples: [
    "mcp serve shop",
    "mcp serve shop --transport http --port 0",
    "mcp serve stockroom --fresh --weaknesses naive_retry",
  ],
  run: async (input) => {
    const [name = ""] = input.positionals;
    const transport = choice("transport", textOption(input, "transport") ?? "stdio", TRANSPORTS);
    if (transport === "stdio") {
      // Whatever an app prints would be taken for the protocol.
      globalThis.console = new Console(process.stderr, process.stderr);
      refuseHttpOptions(input);
    }
    const app = await evalApp(input);
    const world: World = app.openWorld(
      hasFlag(input, "fresh") ? ":memory:" : join(placeOf(input).folder, `${name}.db`),
    );
    try {
      const server = await createServer(input, app, world);
      await (transport === "stdio" ? serveStdio(input, server) : serveHttp(input, server));
      return 0;
    } finally {
      world.close();
    }
  },
};

function refuseHttpOptions(input: CommandInput): void {
  const wrong = ["port", "host", "json"].find((name) => input.options[name] !== undefined);
  if (wrong !== undefined) {
    throw usageError(`--${wrong} is for --transport http. Leave it out, or give --transport http.`);
  }
}

async function createServer({ output }: CommandInput, app: AnyApp, world: World): Promise<McpToolServer> {
  const { createMcpToolServer, resetSessionTool } = await loadMcp();
  // The world came from this very app, whose type of world is lost in a list of apps.
  const agent: Agent = app.agent(world as never, Date.now);
  return createMcpToolServer({
    name: agent.name,
    version: agent.revision,
    tools: agent.tools,
    hidden: [resetSessionTool((run) => world.reset?.(run))],
    ...(agent.formatToolError && { formatToolError: agent.formatToolError }),
    onError: (detail) => output.progress(`mcp: a failure in ${detail}`),
  });
}

async function serveStdio({ output, signal }: CommandInput, server: McpToolServer): Promise<void> {
  // Who starts this process may do what it does, and so may say for whom.
  const trust: CallerTrust = { trustCaller: true };
  const serving = server.serveStdio(trust);
  output.progress(`serving the tools of ${server.name} over stdio`);
  await ended(signal, true);
  await serving.close();
  await server.close();
}

async function serveHttp(input: CommandInput, server: McpToolServer): Promise<void> {
  const { listenMcp } = await loadMcp();
  const { output, signal } = input;
  const token = process.env[TOKEN_VARIABLE];
  const host = textOption(input, "host");
  const listener = await listenMcp(server, {
    port: wholeNumber("--port", textOption(input, "port") ?? String(PORT_DEFAULT), 0, 65_535),
    ...(host !== undefined && { host }),
    ...(token !== undefined && token !== "" && { token }),
  });
  if (hasFlag(input, "json")) {
    output.json({ url: listener.url, port: listener.port, token: token !== undefined && token !== "" });
  } else {
    output.line(`serving the tools of ${server.name} on ${listener.url}`);
  }
  await ended(signal, false);
  await listener.close();
}

/** Resolves when the user interrupts, the process is told to end, or the other end of stdin has gone. */
function ended(signal: AbortSignal, withStdin: boolean): Promise<void> {
  return new Promise((resolve) => {
    const end = (): void => resolve();
    if (signal.aborted) end();
    signal.addEventListener("abort", end, { once: true });
    process.once("SIGTERM", end);
    if (withStdin) {
      process.stdin.once("end", end);
      process.stdin.once("close", end);
    }
  });
}
