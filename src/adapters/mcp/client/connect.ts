import { printable } from "../../../core/index.ts";
import type { CheckedArgs, ToolContext, ToolExecutor, ToolResult } from "../../../tool/index.ts";
import { callMeta } from "../meta.ts";
import { RESET_TOOL } from "../server/reset-tool.ts";
import type { ExcludedTool, McpDefinition } from "./catalog.ts";
import { MCP_UNAVAILABLE } from "./failure.ts";
import type { ConnectMcpOptions } from "./options.ts";
import { createSession, type McpSession, unavailable } from "./session.ts";

/** The tools of one server, for an agent's `executor`. */
export interface McpExecutor extends ToolExecutor, AsyncDisposable {
  /** Tools that the server lists and that are not used, with why. */
  readonly excluded: readonly ExcludedTool[];
  /** Every tool by name, with the hash to approve or to pin. */
  definitions(): readonly McpDefinition[];
  /** Takes a changed or new tool into use; false when the server does not list this definition now. */
  approve(name: string, hash: string): boolean;
  /** Lists the tools again; rejects with `BELAY_MCP_UNAVAILABLE`. */
  refresh(): Promise<void>;
  /** Calls the hidden `reset_session_state` of a server of ours. Does nothing when there is none. */
  reset(context: ToolContext): Promise<void>;
  close(): Promise<void>;
}

/**
 * Connects to a tool server and gives its tools as an executor.
 *
 * Nothing that the server says is believed: its schemas are bounded and compiled by us, its descriptions cleaned, its
 * annotations only raise a level, and a definition that changes is not called until an operator approves it. A server
 * that is dead, slow or lost is a failure as data. Rejects with `BELAY_MCP_UNAVAILABLE` when it cannot be reached at all.
 */
export async function connectMcp(options: ConnectMcpOptions): Promise<McpExecutor> {
  const session = createSession(options);
  const { catalog, connection } = session;
  const close = (): Promise<void> => connection.close();
  try {
    await connection.ready();
  } catch (cause) {
    await close();
    throw unavailable(options, cause);
  }
  return {
    get excluded() {
      return catalog.excluded();
    },
    listTools: () => catalog.usable().map(({ contract }) => contract),
    check: (tool, args) => {
      const error = catalog.refusal(tool);
      return error === undefined ? (catalog.find(tool)?.check(args) ?? unknownTool(tool)) : { ok: false, error };
    },
    execute: (tool, args, context) => executeRemote(session, options, tool, args, context),
    lookup: () => undefined,
    definitions: () => catalog.definitions(),
    approve: (tool, hash) => catalog.approve(tool, hash),
    refresh: async () => {
      try {
        await session.refresh();
      } catch (cause) {
        throw unavailable(options, cause);
      }
    },
    async reset(context) {
      if (session.hidden.has(RESET_TOOL)) {
        const client = await connection.ready();
        await client.callTool({ name: RESET_TOOL, arguments: {}, _meta: callMeta(context, options.scope) });
      }
    },
    close,
    [Symbol.asyncDispose]: close,
  };
}

async function executeRemote(
  session: McpSession,
  options: ConnectMcpOptions,
  tool: string,
  args: Parameters<ToolExecutor["execute"]>[1],
  context: ToolContext,
): Promise<ToolResult> {
  try {
    await session.freshen();
  } catch (cause) {
    // Nothing was sent, so nothing happened.
    return {
      ok: false,
      error: { code: MCP_UNAVAILABLE, message: unavailable(options, cause).message, retryable: true },
    };
  }
  const error = session.catalog.refusal(tool);
  if (error !== undefined) {
    return { ok: false, error };
  }
  return (await session.catalog.find(tool)?.executor.execute(tool, args, context)) ?? unknownTool(tool);
}

function unknownTool(tool: string): Extract<CheckedArgs, { readonly ok: false }> {
  return {
    ok: false,
    error: { code: "unknown_tool", message: `unknown tool "${printable(tool, 80)}"`, retryable: false },
  };
}
