import type { StandardJSONSchemaV1, StandardSchemaV1 } from "@standard-schema/spec";
import type { JsonValue, PermissionLevel, Principal, RecoveryClass } from "../core/index.ts";
import type { ToolFailure } from "./tool-failure.ts";

/** A schema that can both check a value and describe itself as JSON Schema (zod 4, valibot, arktype). */
export interface ToolSchema<Input = unknown, Output = Input> {
  readonly "~standard": StandardSchemaV1.Props<Input, Output> & StandardJSONSchemaV1.Props<Input, Output>;
}

/** What a tool is given beside its arguments; none of it can be set by the model. */
export interface ToolContext {
  readonly runId: string;
  readonly tenant: string;
  /** Who the run belongs to; a tool shows each principal only what is theirs. */
  readonly principal: Principal;
  readonly callId: string;
  /** Equal for every retry, restart and resume of this call and different for every other call. */
  readonly idempotencyKey: string;
  readonly attempt: number;
  /** Milliseconds since the epoch when the tool is run. */
  readonly now: number;
  readonly signal: AbortSignal;
}

/** A tool as the application declares it. */
export interface Tool<Schema extends ToolSchema = ToolSchema, Value = unknown> {
  /** ASCII letters, digits, `_` and `-`, at most 64 characters. */
  readonly name: string;
  readonly description: string;
  readonly level: PermissionLevel;
  readonly recovery: RecoveryClass;
  readonly input: Schema;
  /** Time after which the harness stops waiting, in milliseconds. Default 30,000. */
  readonly timeoutMs?: number;
  /**
   * The tool is synchronous and changes the world only through the agent's `transaction`; the engine runs the rules
   * once more and the tool inside one transaction, so no other run can come between.
   */
  readonly inTransaction?: boolean;
  /** The result may hold words of outsiders; the model sees it inside an untrusted wrapper. */
  readonly untrusted?: boolean;
  /** Needed to register an `irreversible` tool of recovery class `opaque`; makes every call ask a person. */
  readonly risk?: "may_happen_twice_or_unknown";
  /** Does the work. Return `toolFailure(...)` for an expected failure; a thrown error becomes `tool_failed`. */
  execute(
    args: StandardSchemaV1.InferOutput<Schema>,
    context: ToolContext,
  ): Value | ToolFailure | Promise<Value | ToolFailure>;
  /**
   * Finds the outcome of an earlier attempt by the context's idempotency key; `undefined` when it did not happen.
   * Required for `queryable` tools.
   */
  lookup?(
    args: StandardSchemaV1.InferOutput<Schema>,
    context: ToolContext,
  ): Value | ToolFailure | undefined | Promise<Value | ToolFailure | undefined>;
  /**
   * Takes back what the tool did; `result` is what it gave then, as recorded. It runs as a call of its own, named
   * `undo_` and the tool's name, and must do nothing more when it sees the same idempotency key again.
   */
  compensate?(
    args: StandardSchemaV1.InferOutput<Schema>,
    result: JsonValue,
    context: ToolContext,
  ): unknown | ToolFailure | Promise<unknown | ToolFailure>;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds tools of any input
export type AnyTool = Tool<any, unknown>;

/**
 * Declares a tool. The arguments' type comes from the schema.
 *
 * @example
 * ```ts
 * const refund = defineTool({
 *   name: "refund_order",
 *   description: "Refund one order",
 *   level: "irreversible",
 *   recovery: "keyed",
 *   input: z.strictObject({ orderId: z.string(), cents: z.int().positive() }),
 *   execute: async ({ orderId, cents }, { idempotencyKey }) => shop.refund(orderId, cents, idempotencyKey),
 * });
 * ```
 */
export function defineTool<const Schema extends ToolSchema, Value>(tool: Tool<Schema, Value>): Tool<Schema, Value> {
  return tool;
}
