import type { Tool } from "@modelcontextprotocol/server";
import { BelayError } from "../../../errors.ts";
import { type AnyTool, createToolExecutor, type ToolContract, type ToolExecutor } from "../../../tool/index.ts";
import { isJsonObject } from "../json-object.ts";
import { META } from "../meta.ts";

/** A contract as the protocol lists it; the annotations say what the level and the recovery class say. */
function listedTool(contract: ToolContract, isHidden: boolean): Tool {
  const { name, description, inputSchema, level, recovery } = contract;
  return {
    name,
    description,
    inputSchema: { ...(isJsonObject(inputSchema) ? inputSchema : {}), type: "object" },
    annotations: {
      readOnlyHint: level === "read",
      destructiveHint: level === "irreversible" || level === "admin",
      idempotentHint: recovery === "read" || recovery === "keyed",
      openWorldHint: contract.untrusted,
    },
    ...(isHidden ? { _meta: { [META.hidden]: true } } : {}),
  };
}

export interface ServerTools {
  list(): readonly Tool[];
  find(name: string): { readonly executor: ToolExecutor; readonly contract: ToolContract } | undefined;
}

/** The tools of a server, the hidden ones last. Throws `BELAY_MCP_INVALID` when there are none at all. */
export function serverTools(
  options: {
    readonly name: string;
    readonly tools?: readonly AnyTool[];
    readonly executor?: ToolExecutor;
    readonly hidden?: readonly AnyTool[];
  },
  onError: (detail: string, cause: unknown) => void,
): ServerTools {
  const onToolError = (tool: string, cause: unknown): void => onError(`tool ${tool}`, cause);
  const executor = options.executor ?? (options.tools && createToolExecutor(options.tools, { onError: onToolError }));
  if (executor === undefined) {
    throw new BelayError(
      "BELAY_MCP_INVALID",
      `The tool server ${options.name} has no tools. Give it 'tools' or an 'executor'.`,
    );
  }
  const hidden = createToolExecutor(options.hidden ?? [], { onError: onToolError });
  const named = (from: ToolExecutor, name: string): ToolContract | undefined =>
    from.listTools().find((contract) => contract.name === name);
  return {
    list: () => [
      ...executor.listTools().map((contract) => listedTool(contract, false)),
      ...hidden.listTools().map((contract) => listedTool(contract, true)),
    ],
    find: (name: string) => {
      for (const each of [executor, hidden]) {
        const contract = named(each, name);
        if (contract !== undefined) {
          return { executor: each, contract };
        }
      }
      return undefined;
    },
  };
}
