import { ToolMessage } from "@langchain/core/messages";
import type { StructuredToolInterface } from "@langchain/core/tools";
import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { argsHash } from "../../approval/index.ts";
import { formatToolError, renderMessages } from "../../context/index.ts";
import { canonicalize, type JsonValue, type Principal } from "../../core/index.ts";
import { type Agent, createHarness, type Harness, type HarnessOptions, type RunResult } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import type { RunKey } from "../../journal/index.ts";
import { type GraphToolContract, graphTools } from "./graph-tool.ts";
import { runIdOf } from "./run-id.ts";
import { type SettleOptions, settleRun } from "./settle.ts";
import { type OpenCalls, openCalls, type ToolNodeInput } from "./tool-calls.ts";

type FromAgent = Pick<Agent, "name" | "rules"> &
  Partial<Pick<Agent, "revision" | "filters" | "limits" | "budget" | "approval" | "formatToolError" | "transaction">>;

/** An agent without a model: the graph asks that. Rules, filters, limits, points and approval are those of any agent. */
export interface BelayToolNodeOptions
  extends FromAgent,
    SettleOptions,
    Omit<HarnessOptions, "agent" | "model" | "budgets" | "prices"> {
  readonly tools: readonly StructuredToolInterface[];
  readonly contracts: Readonly<Record<string, GraphToolContract>>;
  /** For whom the graph works. Default: the system `langgraph`, who owns nothing. */
  readonly principalOf?: (config: LangGraphRunnableConfig) => Principal;
  readonly tenantOf?: (config: LangGraphRunnableConfig) => string;
}

/** A node for `addNode`, and the harness behind it for inbox, recovery and journal. */
export interface BelayToolNode {
  (input: readonly ToolMessage[], config: LangGraphRunnableConfig): Promise<ToolMessage[]>;
  (input: ToolNodeInput, config: LangGraphRunnableConfig): Promise<{ messages: ToolMessage[] }>;
  readonly harness: Harness;
  /** The same as a `ToolNode` of LangGraph, for `createReactAgent({ tools })` and wherever else one is asked for. */
  readonly toolNode: ToolNode;
}

const NO_MODEL: HarnessOptions["model"] = {
  id: "none",
  generate: () => Promise.reject(new BelayError("BELAY_INTERNAL", "a tool node asks no model")),
};

/**
 * A tool node in place of LangGraph's own, which puts Belay's whole pipeline around a graph's tools.
 *
 * The calls of one message of the model are one run. It is named after thread and message, so a node that is run again,
 * after an interrupt, a crash or twice at once, finds the run as it is: nothing is asked, decided or done a second time.
 * Calls that were edited after they were judged are refused as `state_tampered`, and their open questions are void.
 *
 * Throws what `createHarness` throws, and `BELAY_TOOL_CONTRACT` for tools without contracts.
 */
export function belayToolNode(options: BelayToolNodeOptions): BelayToolNode {
  const harness = createHarness({ ...options, agent: agentOf(options), model: NO_MODEL });
  const node = async (input: ToolNodeInput, config: LangGraphRunnableConfig): Promise<unknown> => {
    const open = openCalls(input);
    const messages = open.calls.length === 0 ? [] : await runCalls(harness, options, open, config);
    return Array.isArray(input) ? messages : { messages };
  };
  return Object.assign(node as Omit<BelayToolNode, "harness" | "toolNode"> as BelayToolNode, {
    harness,
    toolNode: toolNodeOf(options.tools, node),
  });
}

/** An agent of LangGraph reads the tools of its node, to offer them to the model, and runs the node itself. */
function toolNodeOf(
  tools: readonly StructuredToolInterface[],
  node: (input: ToolNodeInput, config: LangGraphRunnableConfig) => Promise<unknown>,
): ToolNode {
  const made = new ToolNode([...tools]);
  // Whatever calls the node comes through here; nothing is left of LangGraph's own way to run a tool.
  for (const way of ["run", "runTool"]) Object.defineProperty(made, way, { value: node });
  return made;
}

function agentOf(options: BelayToolNodeOptions): Agent {
  const {
    name,
    revision = "1",
    rules,
    filters,
    limits,
    budget,
    approval,
    formatToolError: format,
    transaction,
  } = options;
  const optional = { filters, limits, budget, approval, formatToolError: format, transaction };
  return {
    ...(Object.fromEntries(Object.entries(optional).filter(([, value]) => value !== undefined)) as Partial<Agent>),
    name,
    revision,
    instructions: "",
    rules,
    tools: graphTools(options.tools, options.contracts),
  };
}

async function runCalls(
  harness: Harness,
  options: BelayToolNodeOptions,
  open: OpenCalls,
  config: LangGraphRunnableConfig,
): Promise<ToolMessage[]> {
  const tenant = options.tenantOf?.(config) ?? "default";
  const run: RunKey = { tenant, runId: runIdOf(config, options.name, open.turn) };
  const calls = open.calls.map(({ tool, args }) => ({ tool, args }));
  const principal = options.principalOf?.(config) ?? ({ kind: "system", id: "langgraph" } as const);
  try {
    await harness.start(`tools of a graph ${hashOf(open)}`, { ...run, calls, principal });
  } catch (error) {
    if (!(error instanceof BelayError) || error.code !== "BELAY_RUN_EXISTS") throw error;
    await harness.cancel(run, { kind: "system", id: "langgraph" }, "the calls were edited");
    return open.calls.map(tampered);
  }
  return toolMessages(harness.agent, open, await settleRun(harness, run, config, options));
}

/** Tells other calls apart; what JSON cannot hold is refused later, and is told apart by its position. */
function hashOf({ calls }: OpenCalls): string {
  const list = calls.map(({ id, tool, args }) => [id, tool, canonicalize(args).ok ? args : null]);
  return argsHash("graph", list as unknown as JsonValue);
}

function tampered({ id, tool }: OpenCalls["calls"][number]): ToolMessage {
  const message = "the calls are not those that were judged; nothing was run. Ask for what you want in a new message";
  const content = JSON.stringify({ error: "state_tampered", message });
  return new ToolMessage({ content, tool_call_id: id, name: tool, status: "error" });
}

/** Each call's one result, as the model of a Belay agent would read it. */
function toolMessages(agent: Agent, { calls }: OpenCalls, result: RunResult): ToolMessage[] {
  const untrustedTools = new Set(agent.tools.filter(({ untrusted }) => untrusted === true).map(({ name }) => name));
  const rendered = renderMessages(result.state.messages, {
    formatToolError: agent.formatToolError ?? formatToolError,
    untrustedTools,
  });
  const results = rendered.filter((message) => message.role === "tool");
  return calls.map(({ id, tool }, index) => {
    const shown = results[index];
    return new ToolMessage({
      content: shown?.text ?? JSON.stringify({ error: "not_run", message: "nothing was run" }),
      tool_call_id: id,
      name: tool,
      status: shown?.isError === false ? "success" : "error",
    });
  });
}
