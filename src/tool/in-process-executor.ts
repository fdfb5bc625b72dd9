import { checkJsonValue, type JsonValue, printable, type StrictJsonFailure, type ToolError } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { checkArguments, type OnToolError } from "./check-arguments.ts";
import { contractOf } from "./contract.ts";
import type { ToolContract, ToolExecutor, ToolResult } from "./executor.ts";
import { outcomeOf, quietly } from "./thenable.ts";
import type { AnyTool } from "./tool.ts";
import { resultOf, TOOL_FAILED } from "./tool-result.ts";

export interface ToolExecutorOptions {
  /** Gets what the model must not see: exceptions of tools and schemas, and results that are not JSON. */
  readonly onError?: OnToolError;
}

/** Code of a `lookup` that failed: nothing is known about the earlier attempt, so it must not be repeated for that. */
export const LOOKUP_FAILED = "lookup_failed";

/**
 * Runs tools in this process.
 *
 * Throws at start-up: `BELAY_TOOL_DUPLICATE`, `BELAY_TOOL_NAME`, `BELAY_TOOL_CONTRACT`, `BELAY_TOOL_SCHEMA`. Later it
 * never throws or rejects. A tool that returns no promise gives its result at once.
 */
export function createToolExecutor(tools: readonly AnyTool[], options: ToolExecutorOptions = {}): ToolExecutor {
  const entries = register(tools);
  const contracts = Object.freeze([...entries.values()].map(({ contract }) => contract));
  const onError = quietly(options.onError);
  const work: AttemptOptions<ToolResult> = { onError, failed: TOOL_FAILED, settle: resultOf };
  return {
    listTools: () => contracts,
    check: (name, args) => {
      const entry = entries.get(name);
      return entry === undefined
        ? { ok: false, error: unknownTool(name, entries) }
        : checkArguments(entry.tool, entry.contract, args, onError);
    },
    execute: (name, args, context) => {
      const tool = entries.get(name)?.tool;
      return tool === undefined
        ? { ok: false, error: unknownTool(name, entries) }
        : attempt(tool, args, (copy) => tool.execute(copy, context), work);
    },
    lookup: (name, args, context) => {
      const tool = entries.get(name)?.tool;
      if (tool?.lookup === undefined) {
        return tool === undefined ? { ok: false, error: unknownTool(name, entries) } : undefined;
      }
      return attempt(tool, args, (copy) => tool.lookup?.(copy, context), {
        onError,
        failed: LOOKUP_ERROR,
        settle: (value, onBad) => (value === undefined ? undefined : resultOf(value, onBad)),
      });
    },
    compensate: (name, args, result, context) => {
      const tool = entries.get(name)?.tool;
      return tool?.compensate === undefined
        ? { ok: false, error: unknownTool(name, entries) }
        : attempt(tool, args, (copy) => tool.compensate?.(copy, result, context), work);
    },
  };
}

const LOOKUP_ERROR: ToolError = {
  code: LOOKUP_FAILED,
  message: "the outcome of the earlier attempt could not be looked up",
  retryable: true,
};

interface Entry {
  readonly tool: AnyTool;
  readonly contract: ToolContract;
}

function register(tools: readonly AnyTool[]): ReadonlyMap<string, Entry> {
  const entries = new Map<string, Entry>();
  for (const tool of tools) {
    const contract = contractOf(tool);
    if (entries.has(contract.name)) {
      throw new BelayError("BELAY_TOOL_DUPLICATE", `Two tools are named "${contract.name}". Rename one of them.`);
    }
    entries.set(contract.name, { tool, contract });
  }
  return entries;
}

interface AttemptOptions<Outcome> {
  readonly onError: OnToolError;
  /** What an exception becomes. */
  readonly failed: ToolError;
  /** `onBad` hears of a value that is not JSON. */
  readonly settle: (value: unknown, onBad: (failure: StrictJsonFailure) => void) => Outcome;
}

/** Runs the tool's own code once; every way in which it can go wrong comes back as data. */
function attempt<Outcome>(
  tool: AnyTool,
  args: JsonValue,
  work: (copy: JsonValue) => unknown,
  options: AttemptOptions<Outcome>,
): Outcome | ToolResult | Promise<Outcome | ToolResult> {
  const failed = (error: unknown): ToolResult => {
    options.onError(tool.name, error);
    return { ok: false, error: options.failed };
  };
  const onBad = ({ path, message }: StrictJsonFailure): void =>
    options.onError(tool.name, new Error(`the result is not JSON at ${path}: ${message}`));
  // The tool gets a copy, so that it cannot write into what was recorded and approved.
  const copied = checkJsonValue(args);
  if (!copied.ok) {
    return { ok: false, error: { code: "arguments_not_json", message: copied.message, retryable: false } };
  }
  return outcomeOf<Outcome | ToolResult>(
    () => work(copied.value),
    (value) => options.settle(value, onBad),
    failed,
  );
}

function unknownTool(name: string, entries: ReadonlyMap<string, Entry>): ToolError {
  const message = `unknown tool "${printable(name, 80)}"`;
  return { code: "unknown_tool", message, retryable: false, details: { known: [...entries.keys()] } };
}
