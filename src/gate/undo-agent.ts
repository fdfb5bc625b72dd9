import type { JsonValue } from "../core/index.ts";
import type { Agent } from "../engine/index.ts";
import type { Rule } from "../policy/index.ts";
import {
  type AnyTool,
  createToolExecutor,
  type ToolContext,
  type ToolContract,
  type ToolExecutor,
  type ToolFailure,
  type ToolResult,
  type ToolSchema,
  toolFailure,
  undoName,
} from "../tool/index.ts";

/** Ends the name of the agent that takes back what another one did. */
const SUFFIX = ".undo";

/** What a person sees, and rules judge, of a call that takes another one back. */
export interface UndoArguments {
  /** The run and call that are taken back. */
  readonly run: string;
  readonly call: string;
  readonly args: JsonValue;
  /** What the call gave. */
  readonly result: JsonValue;
}

/** The agent whose work an undoing agent takes back, or `undefined` when it is none. */
export function undoneAgentName(name: string): string | undefined {
  return name.endsWith(SUFFIX) ? name.slice(0, -SUFFIX.length) : undefined;
}

/**
 * The agent that takes back what `agent` did: for each tool with `compensate` the tool `undo_<name>`, under the same
 * rules and approval.
 *
 * Rules without `tools` judge it like any call; of those with `tools`, the ones that name it. As always, what no rule
 * allows is denied.
 */
export function undoAgent(agent: Agent): Agent {
  const inner = createToolExecutor(agent.tools);
  const executor = agent.executor?.(inner) ?? inner;
  const contracts = executor.listTools().filter(({ compensable }) => compensable === true);
  const names = contracts.map(({ name }) => undoName(name));
  const { name, revision, rules, filters, approval, label, formatToolError, transaction } = agent;
  const optional = { filters, approval, label, formatToolError, transaction };
  return {
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<Agent>),
    name: `${name}${SUFFIX}`,
    revision,
    instructions: "",
    tools: contracts.map((contract) => undoTool(executor, contract)),
    rules: rules.flatMap((rule) => narrowed(rule, names)),
  };
}

function narrowed(rule: Rule, names: readonly string[]): readonly Rule[] {
  if (rule.tools === undefined) return [rule];
  const tools = rule.tools.filter((tool) => names.includes(tool));
  return tools.length === 0 ? [] : [{ ...rule, tools }];
}

function undoTool(executor: ToolExecutor, { name, level, timeoutMs, inTransaction }: ToolContract): AnyTool {
  return {
    name: undoName(name),
    description: `Takes back what ${name} did`,
    level,
    // A compensation does nothing more for a key that it has seen.
    recovery: "keyed",
    input: UNDO_INPUT,
    timeoutMs,
    inTransaction,
    execute: (given: unknown, context) => {
      const undo = given as UndoArguments;
      const result = executor.compensate?.(name, undo.args, undo.result, withKey(context, undo));
      if (result === undefined) return toolFailure("no_compensation", `${name} cannot be taken back`);
      return "then" in result ? result.then(asToolValue) : asToolValue(result);
    },
  };
}

/** The key comes from the call that is taken back, so that a second try under another run is the same to the far side. */
function withKey(context: ToolContext, { run, call }: UndoArguments): ToolContext {
  return { ...context, idempotencyKey: `${context.tenant}/${run}/${call}/undo` };
}

function asToolValue(result: ToolResult): JsonValue | ToolFailure {
  if (result.ok) return result.value;
  const { code, message, retryable, details } = result.error;
  return toolFailure(code, message, { retryable, ...(details === undefined ? {} : { details }) });
}

/** The harness itself makes these arguments, from the journal. */
const UNDO_INPUT: ToolSchema = {
  "~standard": {
    version: 1,
    vendor: "belay",
    validate: (value) => ({ value }),
    jsonSchema: { input: () => UNDO_SCHEMA, output: () => UNDO_SCHEMA },
  },
};

const UNDO_SCHEMA = {
  type: "object",
  properties: { run: { type: "string" }, call: { type: "string" }, args: {}, result: {} },
  required: ["run", "call", "args", "result"],
  additionalProperties: false,
};
