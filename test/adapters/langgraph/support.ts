import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { type StructuredToolInterface, tool } from "@langchain/core/tools";
import {
  type BaseCheckpointSaver,
  Command,
  END,
  interrupt,
  type LangGraphRunnableConfig,
  MemorySaver,
  MessagesAnnotation,
  START,
  StateGraph,
} from "@langchain/langgraph";
import type { ToolNode } from "@langchain/langgraph/prebuilt";
import { z } from "zod";
import {
  type ApprovalInterrupt,
  type BelayCallConfig,
  type BelayToolNodeOptions,
  belayToolNode,
  type GraphDecision,
} from "../../../src/adapters/langgraph/index.ts";
import { allow, ask } from "../../../src/index.ts";
import { createMemoryStore } from "../../../src/journal/index.ts";

export const PAY = z.strictObject({ to: z.string(), cents: z.int().positive() });
export type Pay = z.infer<typeof PAY>;

/** What really happened, and whether the gate asks at the moment. */
export interface Far {
  readonly effects: string[];
  readonly keys: string[];
  asks: boolean;
}

export function farSide(): Far {
  return { effects: [], keys: [], asks: true };
}

const invoked = { name: "pay", description: "Pays", schema: PAY };

/** The tool of a graph that asks for approval as LangGraph's guides do: with `interrupt` in the tool itself. */
export function interruptingTool(far: Far): StructuredToolInterface {
  return tool(async (args: Pay) => {
    if (far.asks) {
      const answer: unknown = interrupt({ pay: args });
      if (answer !== "approved") return "rejected by a person";
    }
    await new Promise((resolve) => setTimeout(resolve, 5));
    far.effects.push(`${args.to} ${args.cents}`);
    return "paid";
  }, invoked);
}

/** The same tool without any gate: Belay asks. */
export function plainTool(far: Far): StructuredToolInterface {
  return tool(async ({ to, cents }: Pay, config: LangGraphRunnableConfig) => {
    await new Promise((resolve) => setTimeout(resolve, 5));
    const belay = config.configurable?.["belay"] as BelayCallConfig | undefined;
    far.keys.push(belay?.idempotencyKey ?? "none");
    far.effects.push(`${to} ${cents}`);
    return { paid: cents };
  }, invoked);
}

/** Whoever the server says is logged in answers what the graph is resumed with. */
export function decisionsOf(resume: unknown, config: LangGraphRunnableConfig): readonly GraphDecision[] {
  const { approvals, answer } = resume as {
    approvals: ApprovalInterrupt["approvals"];
    answer: GraphDecision["answer"];
  };
  const by = { kind: "person", id: String(config.configurable?.["user"] ?? "") } as const;
  return approvals.map(({ approvalId, argsHash }) => ({ approvalId, argsHash, answer, by }));
}

export function belayNode(far: Far, change: Partial<BelayToolNodeOptions> = {}) {
  return belayToolNode({
    name: "desk",
    tools: [plainTool(far)],
    contracts: { pay: { level: "irreversible", recovery: "keyed" } },
    rules: [{ id: "gate", decide: () => (far.asks ? ask("ASK", "a person decides") : allow("OK", "small")) }],
    store: createMemoryStore(),
    decisionsOf,
    ...change,
  });
}

type ToolsNode = ReturnType<typeof belayNode> | ToolNode;

export interface Call {
  readonly name: string;
  readonly args: Record<string, unknown>;
  readonly id: string;
}

export function payCall(to: string, cents = 500, id = `call_${to}`): Call {
  return { name: "pay", args: { to, cents }, id };
}

/** A graph whose model asks for each turn of calls, and then answers with the texts of all results. */
export function graphOf(
  node: ToolsNode,
  turns: readonly (readonly Call[])[],
  saver: BaseCheckpointSaver = new MemorySaver(),
) {
  const agent = ({ messages }: { messages: BaseMessage[] }) => {
    const made = messages.filter((message) => message.getType() === "ai").length;
    const calls = turns[made];
    if (calls !== undefined) {
      return {
        messages: [
          new AIMessage({ content: "", tool_calls: calls.map((call) => ({ ...call, type: "tool_call" as const })) }),
        ],
      };
    }
    const results = messages.filter((message) => message.getType() === "tool").map(({ content }) => content);
    return { messages: [new AIMessage({ content: JSON.stringify(results) })] };
  };
  const builder = new StateGraph(MessagesAnnotation)
    .addNode("agent", agent)
    .addNode("tools", node as never)
    .addEdge(START, "agent")
    .addConditionalEdges("agent", ({ messages }) =>
      ((messages.at(-1) as AIMessage | undefined)?.tool_calls ?? []).length > 0 ? "tools" : END,
    )
    .addEdge("tools", "agent");
  return builder.compile({ checkpointer: saver });
}

export const THREAD = { configurable: { thread_id: "t", user: "dana" } };
export const GO = { messages: [new HumanMessage("pay")] };

/** What a graph stopped with. */
export function interruptOf(state: unknown): ApprovalInterrupt {
  const [first] = (state as { __interrupt__?: { value: ApprovalInterrupt }[] }).__interrupt__ ?? [];
  if (first === undefined) throw new Error("the graph was not interrupted");
  return first.value;
}

export function answerOf(state: { messages: BaseMessage[] }): string {
  return String(state.messages.at(-1)?.content);
}

/** Goes on with an interrupted graph. The type names the nodes of one graph, and this is for any. */
export function resumeWith(resume: unknown): never {
  return new Command({ resume }) as never;
}
