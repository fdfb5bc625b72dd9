import { randomBytes } from "node:crypto";
import type { Agent } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import { type AnyTool, createToolExecutor } from "../../tool/index.ts";
import { connectMcp, type McpExecutor } from "./client/connect.ts";
import type { McpProtocol, McpTransport } from "./client/transports.ts";
import { listenMcp } from "./server/listen.ts";
import { createMcpToolServer } from "./server/tool-server.ts";

/** `mcp`: a server in this process without a wire. `mcp-stdio`: a child. `mcp-http`: a server on loopback. */
export type McpToolsMode = "mcp" | "mcp-stdio" | "mcp-http";

export interface WithMcpToolsOptions {
  /** For `mcp-stdio`: what serves the same app, such as `belay mcp serve <app>`; its world is its own. */
  readonly command?: {
    readonly command: string;
    readonly args: readonly string[];
    readonly env?: Readonly<Record<string, string>>;
    readonly cwd?: string;
  };
  /** For `mcp-http`: a server that runs already, instead of one that is started here. */
  readonly url?: string;
  readonly token?: string;
  readonly hidden?: readonly AnyTool[];
  /** Default `legacy` for `mcp`, which is the fastest, and `modern` for the others. */
  readonly protocol?: McpProtocol;
  /** Gets what the server or its process says to the operator. */
  readonly onError?: (detail: string) => void;
}

const CHILD_START_MS = 30_000;

export interface AgentOverMcp extends AsyncDisposable {
  readonly agent: Agent;
  readonly executor: McpExecutor;
}

/**
 * Gives an agent whose tools run behind the Model Context Protocol instead of in this process.
 *
 * Levels, recovery classes and argument checks stay those of the agent's own tools; descriptions and schemas are what
 * the server lists, so what a server gets wrong shows. No tool runs in the world's transaction any more: rules are not
 * asked once more beside the effect. Rejects with `BELAY_MCP_INVALID` for a mode without what it needs, and
 * `BELAY_MCP_UNAVAILABLE`.
 */
export async function withMcpTools(
  agent: Agent,
  mode: McpToolsMode,
  options: WithMcpToolsOptions = {},
): Promise<AgentOverMcp> {
  const opened: AsyncDisposable[] = [];
  const close = async (): Promise<void> => {
    // What was opened last uses what was opened before it.
    for (const each of opened.splice(0).reverse()) {
      await each[Symbol.asyncDispose]();
    }
  };
  try {
    const transport = await openServer(agent, mode, options, opened);
    const executor = await connectMcp({
      name: agent.name,
      transport,
      local: createToolExecutor(agent.tools),
      // A child must first start a program, on a machine that may be busy.
      ...(mode === "mcp-stdio" && { connectTimeoutMs: CHILD_START_MS }),
      protocol: options.protocol ?? (mode === "mcp" ? "legacy" : "modern"),
      // A server that others use too may know a run of the same name.
      ...(options.url === undefined ? {} : { scope: `${randomBytes(8).toString("hex")}:` }),
    });
    opened.push(executor);
    return {
      agent: { ...agent, executor: () => agent.executor?.(executor) ?? executor },
      executor,
      [Symbol.asyncDispose]: close,
    };
  } catch (error) {
    await close();
    throw error;
  }
}

async function openServer(
  agent: Agent,
  mode: McpToolsMode,
  options: WithMcpToolsOptions,
  opened: AsyncDisposable[],
): Promise<McpTransport> {
  if (mode === "mcp-stdio") {
    if (options.command === undefined) {
      throw new BelayError(
        "BELAY_MCP_INVALID",
        "mcp-stdio needs the command that serves the app's tools. Give 'command'.",
      );
    }
    return { kind: "stdio", ...options.command, onStderr: (text) => options.onError?.(text) };
  }
  if (mode === "mcp-http" && options.url !== undefined) {
    return { kind: "http", url: options.url, ...(options.token === undefined ? {} : { token: options.token }) };
  }
  const server = createMcpToolServer({
    name: agent.name,
    version: agent.revision,
    tools: agent.tools,
    ...(options.hidden === undefined ? {} : { hidden: options.hidden }),
    ...(agent.formatToolError === undefined ? {} : { formatToolError: agent.formatToolError }),
    onError: (detail) => options.onError?.(detail),
  });
  opened.push(server);
  if (mode === "mcp") {
    return { kind: "memory", server };
  }
  const token = randomBytes(32).toString("base64url");
  const listener = await listenMcp(server, { token });
  opened.push(listener);
  return { kind: "http", url: listener.url, token };
}
