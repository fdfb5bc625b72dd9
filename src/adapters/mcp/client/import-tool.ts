import type { Tool } from "@modelcontextprotocol/client";
import { canonicalize, type JsonValue, printable } from "../../../core/index.ts";
import { BelayError } from "../../../errors.ts";
import {
  type AnyTool,
  type CheckedArgs,
  createToolExecutor,
  isToolName,
  type ToolContext,
  type ToolContract,
  type ToolExecutor,
  type ToolFailure,
} from "../../../tool/index.ts";
import { cleanText } from "../clean-text.ts";
import { isJsonObject } from "../json-object.ts";
import { type CompiledSchema, compileSchema } from "../schema/compile-schema.ts";
import { toolSchema } from "../schema/tool-schema.ts";
import type { Classed } from "./classify.ts";
import type { ResultReader } from "./read-result.ts";

const DESCRIPTION_CHARACTERS_MAX = 2_000;

/** Sends one call to the server that the definition came from. */
export type RemoteCall = (
  definition: Tool,
  reader: ResultReader,
  args: JsonValue,
  context: ToolContext,
) => Promise<JsonValue | ToolFailure>;

export interface ImportOptions {
  readonly classed: Classed;
  readonly timeoutMs: number;
  /** The app's own executor, when the server is one of ours. */
  readonly local: ToolExecutor | undefined;
  readonly call: RemoteCall;
}

export interface ImportedTool {
  readonly definition: Tool;
  readonly contract: ToolContract;
  check(args: JsonValue): CheckedArgs | Promise<CheckedArgs>;
  readonly executor: ToolExecutor;
}

export type Imported =
  | { readonly ok: true; readonly tool: ImportedTool }
  | { readonly ok: false; readonly reason: string };

/** Makes a tool that the harness can use of what a server listed, or says why it is left out. Never throws. */
export function importTool(definition: Tool, options: ImportOptions): Imported {
  if (!isToolName(definition.name)) {
    return { ok: false, reason: "its name is not 1 to 64 ASCII letters, digits, _ and -" };
  }
  const input = compileSchema(definition.inputSchema);
  if (!input.ok) {
    return { ok: false, reason: `input schema: ${input.reason}` };
  }
  const output = definition.outputSchema === undefined ? undefined : compileSchema(definition.outputSchema);
  if (output?.ok === false) {
    return { ok: false, reason: `output schema: ${output.reason}` };
  }
  try {
    return { ok: true, tool: assemble(definition, input, output, options) };
  } catch (error) {
    return { ok: false, reason: error instanceof BelayError ? error.message : "it cannot be used as a tool" };
  }
}

function assemble(
  definition: Tool,
  input: CompiledSchema,
  output: CompiledSchema | undefined,
  { classed, timeoutMs, local, call }: ImportOptions,
): ImportedTool {
  const { name } = definition;
  const { failuresAreDefinite, ...declared } = classed;
  let contract: ToolContract | undefined;
  const tool: AnyTool = {
    name,
    description: cleanText(definition.description ?? "", DESCRIPTION_CHARACTERS_MAX),
    timeoutMs,
    ...declared,
    input: toolSchema(input),
    execute: (args: JsonValue, context) => {
      if (contract === undefined) {
        throw new TypeError(`${printable(name)} has no contract`);
      }
      const reader: ResultReader = { contract, isOwn: local !== undefined, failuresAreDefinite, output };
      return call(definition, reader, args, context);
    },
  };
  const executor = createToolExecutor([tool]);
  contract = executor.listTools()[0];
  if (contract === undefined) {
    throw new TypeError(`${printable(name)} has no contract`);
  }
  // Where the server says what the app says, the app's own check words a mistake as it does without a server.
  const checker = local !== undefined && isSameSchema(local, name, definition.inputSchema) ? local : executor;
  return { definition, contract, executor, check: (args) => checker.check(name, args) };
}

function isSameSchema(local: ToolExecutor, name: string, schema: unknown): boolean {
  const own = local.listTools().find((contract) => contract.name === name)?.inputSchema;
  const text = (value: unknown): string | undefined => {
    const canonical = canonicalize(isJsonObject(value) ? { ...value, type: "object" } : value);
    return canonical.ok ? canonical.text : undefined;
  };
  return own !== undefined && text(own) === text(schema);
}
