import type { JsonValue, PermissionLevel, RecoveryClass, ToolError } from "../core/index.ts";
import type { ToolContext } from "./tool.ts";

/** A tool as the engine sees it, wherever it runs. */
export interface ToolContract {
  readonly name: string;
  readonly description: string;
  readonly level: PermissionLevel;
  readonly recovery: RecoveryClass;
  readonly inputSchema: JsonValue;
  readonly timeoutMs: number;
  readonly inTransaction: boolean;
  readonly untrusted: boolean;
  readonly risk?: "may_happen_twice_or_unknown";
  /** What the tool did can be taken back by a call of `undoName(name)`. */
  readonly compensable?: true;
  /** Changes when anything above changes; an approval pins it. */
  readonly contractHash: string;
}

export type CheckedArgs =
  | { readonly ok: true; readonly args: JsonValue }
  | { readonly ok: false; readonly error: ToolError };

/** Name of the call that takes back what a tool did; rules may speak about it like about any other tool. */
export function undoName(tool: string): string {
  return `undo_${tool}`;
}

/** What a tool gave back, before any filter. */
export type ToolResult =
  | { readonly ok: true; readonly value: JsonValue }
  | { readonly ok: false; readonly error: ToolError };

/**
 * Where tools run. Wrappers take one and return one, and compose.
 *
 * `execute` never throws: a thrown error, a value that JSON cannot hold and an expected failure all come back as data.
 * A synchronous tool gives a result at once, not a promise, so that it can run inside a transaction.
 */
export interface ToolExecutor {
  listTools(): readonly ToolContract[];
  /** Checks arguments against the tool's schema and gives the validated value. */
  check(tool: string, args: JsonValue): CheckedArgs | Promise<CheckedArgs>;
  execute(tool: string, args: JsonValue, context: ToolContext): ToolResult | Promise<ToolResult>;
  /** Outcome of an earlier attempt; `undefined` when it did not happen or the tool cannot tell. */
  lookup(tool: string, args: JsonValue, context: ToolContext): ToolResult | undefined | Promise<ToolResult | undefined>;
  /** Takes back what a `compensable` tool did; `result` is what it gave then. */
  compensate?(tool: string, args: JsonValue, result: JsonValue, context: ToolContext): ToolResult | Promise<ToolResult>;
}
