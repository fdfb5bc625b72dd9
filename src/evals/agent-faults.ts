import type { JsonValue } from "../core/index.ts";
import type { Agent } from "../engine/index.ts";
import { createToolExecutor, type ToolExecutor, type ToolResult } from "../tool/index.ts";
import { countOf, invalidFault, toolOf } from "./fault-check.ts";
import type { Fault } from "./suite.ts";

/** Around an agent's tools: what goes wrong there in a case. */
export interface AgentFaults {
  readonly agent: Agent;
  /** Makes a fault of the runner's own kinds; returns false for any other. Throws `BELAY_EVAL_CASE`. */
  apply(fault: Fault): boolean;
}

interface Planned {
  /** What the tool gives in place of its own result. */
  readonly results: Map<string, JsonValue>;
  /** Milliseconds that pass while the tool runs. */
  readonly slow: Map<string, number>;
  /** Tools whose answer is lost after they did their work, and which cannot be asked afterwards. */
  readonly unanswered: Set<string>;
}

/**
 * Puts an agent's executor and transaction behind the faults of one case.
 *
 * Kinds: `tool_result {tool, value, fillCharacters}` replaces what a tool gives back, as outsiders may who write into
 * it; `slow_tool {tool, ms}` lets time pass in it; `unanswered {tool}` loses its answer and every later look-up.
 * `beforeEffect` runs once, between the decision about a call and the transaction of its effect.
 */
export function withFaults(declared: Agent, pass: (ms: number) => void, beforeEffect: () => void): AgentFaults {
  const planned: Planned = { results: new Map(), slow: new Map(), unanswered: new Set() };
  const agent: Agent = {
    ...declared,
    executor: (inner) => faultyExecutor(declared.executor?.(inner) ?? inner, planned, pass),
    ...(declared.transaction && { transaction: faultyTransaction(declared.transaction, planned, beforeEffect) }),
  };
  return {
    agent,
    apply: (fault) => {
      const names = toolNames(declared);
      switch (fault.kind) {
        case "tool_result":
          planned.results.set(toolOf(fault, names), resultOf(fault));
          return true;
        case "slow_tool":
          planned.slow.set(toolOf(fault, names), countOf(fault, "ms", 0));
          return true;
        case "unanswered":
          planned.unanswered.add(toolOf(fault, names));
          return true;
        default:
          return false;
      }
    },
  };
}

function toolNames(agent: Agent): readonly string[] {
  const plain = createToolExecutor(agent.tools);
  return (agent.executor?.(plain) ?? plain).listTools().map(({ name }) => name);
}

const FILL_NAME = "text";

function resultOf(fault: Fault): JsonValue {
  const { value } = fault;
  if (value === undefined) {
    throw invalidFault(fault, "value must say what the tool gives back");
  }
  const fill = countOf(fault, "fillCharacters", 0);
  if (fill === 0) {
    return value;
  }
  if (typeof value !== "object" || value === null || Array.isArray(value)) {
    throw invalidFault(fault, "fillCharacters needs a value that is an object");
  }
  return { ...value, [FILL_NAME]: "x".repeat(fill) };
}

function faultyExecutor(inner: ToolExecutor, planned: Planned, pass: (ms: number) => void): ToolExecutor {
  return {
    ...inner,
    execute: (tool, args, context) => {
      pass(planned.slow.get(tool) ?? 0);
      const result = inner.execute(tool, args, context);
      const value = planned.results.get(tool);
      const given = (): ToolResult | Promise<ToolResult> => (value === undefined ? result : { ok: true, value });
      // A synchronous tool must stay one.
      return result instanceof Promise ? result.then(given) : given();
    },
    lookup: (tool, args, context) => {
      if (planned.unanswered.has(tool)) {
        throw new Error("nobody answers");
      }
      return inner.lookup(tool, args, context);
    },
  };
}

type Transaction = NonNullable<Agent["transaction"]>;

function faultyTransaction(inner: Transaction, planned: Planned, beforeEffect: () => void): Transaction {
  let isFirst = true;
  return (work) => {
    if (isFirst) {
      isFirst = false;
      beforeEffect();
    }
    if (planned.unanswered.size > 0) {
      throw new Error("the database does not answer");
    }
    return inner(work);
  };
}
