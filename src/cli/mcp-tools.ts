import type { AgentOverMcp, McpToolsMode, WithMcpToolsOptions } from "../adapters/mcp/index.ts";
import type { Agent } from "../engine/index.ts";
import type { OptionSpec } from "./command.ts";
import { loadMcp } from "./mcp-load.ts";
import { choice } from "./usage.ts";

/** Where an app's tools run: in this process, or behind one of the boundaries of the Model Context Protocol. */
export type ToolsMode = "local" | McpToolsMode;

const MODES: readonly ToolsMode[] = ["local", "mcp", "mcp-stdio", "mcp-http"];

export const TOOLS_OPTION: Readonly<Record<"tools", OptionSpec>> = {
  tools: { type: "string", value: "mode", help: "where tools run: local, mcp, mcp-stdio or mcp-http (default local)" },
};

/** Reads `--tools`; throws `BELAY_USAGE`. */
export function toolsMode(text: string | undefined): ToolsMode {
  return choice("tools", text ?? "local", MODES);
}

export interface AgentThroughOptions extends Pick<WithMcpToolsOptions, "hidden" | "onError"> {
  /** Name of the app in the configuration, for the child of `mcp-stdio`. */
  readonly app: string;
  readonly config: string;
  /** Further arguments of `mcp serve` in the child, such as `--fresh` or `--db`. */
  readonly serveArgs: readonly string[];
  /** Added to this process's environment in the child. */
  readonly env?: Readonly<Record<string, string>>;
}

export interface AgentThrough extends AsyncDisposable {
  readonly agent: Agent;
  /** The tools work on data of another process, which nobody sees from here. */
  readonly isWorldElsewhere: boolean;
}

/** Whether the tools work on data of another process, which nobody sees from here. */
export function worksElsewhere(mode: ToolsMode): boolean {
  return mode === "mcp-stdio" || (mode === "mcp-http" && Boolean(process.env["BELAY_MCP_URL"]));
}

/**
 * The agent with its tools behind a boundary. `mcp-http` uses the server of `BELAY_MCP_URL` (with `BELAY_MCP_TOKEN`)
 * when that is set. What the other side says while it starts is told only if it does not. Throws
 * `BELAY_MCP_UNAVAILABLE`.
 */
export async function agentThrough(agent: Agent, mode: ToolsMode, options: AgentThroughOptions): Promise<AgentThrough> {
  if (mode === "local") {
    return { agent, isWorldElsewhere: false, [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  const { BELAY_MCP_URL: url, BELAY_MCP_TOKEN: token } = process.env;
  const { withMcpTools } = await loadMcp();
  const starting: string[] = [];
  let tell = (detail: string): void => void starting.push(detail);
  try {
    const over: AgentOverMcp = await withMcpTools(agent, mode, {
      ...(options.hidden && { hidden: options.hidden }),
      onError: (detail) => tell(detail),
      ...(mode === "mcp-stdio" && { command: serveCommand(options) }),
      ...(mode === "mcp-http" && url && { url, ...(token && { token }) }),
    });
    tell = (detail) => options.onError?.(detail);
    return {
      agent: over.agent,
      isWorldElsewhere: worksElsewhere(mode),
      [Symbol.asyncDispose]: () => over[Symbol.asyncDispose](),
    };
  } catch (error) {
    starting.forEach((detail) => void options.onError?.(detail.trimEnd()));
    throw error;
  }
}

/** This very program again, as it was started, serving the app over stdio. */
function serveCommand({
  app,
  config,
  serveArgs,
  env = {},
}: AgentThroughOptions): NonNullable<WithMcpToolsOptions["command"]> {
  const program = process.argv[1] ?? "belay";
  const inherited = Object.entries(process.env).filter((entry): entry is [string, string] => entry[1] !== undefined);
  return {
    command: process.execPath,
    args: [...process.execArgv, program, "mcp", "serve", app, "--config", config, ...serveArgs],
    env: { ...Object.fromEntries(inherited), ...env },
  };
}
