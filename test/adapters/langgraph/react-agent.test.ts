import { AIMessage, type BaseMessage, HumanMessage } from "@langchain/core/messages";
import { RunnableLambda } from "@langchain/core/runnables";
import { MemorySaver } from "@langchain/langgraph";
import { createReactAgent, type ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import {
  answerOf,
  belayNode,
  type Call,
  farSide,
  GO,
  graphOf,
  interruptOf,
  payCall,
  resumeWith,
  THREAD,
} from "./support.ts";

/** LangGraph's ready-made agent, whose model asks for each turn of calls and then tells what came of the last. */
function reactAgent(tools: ToolNode, turns: readonly (readonly Call[])[], version: "v1" | "v2") {
  const llm = RunnableLambda.from((input: BaseMessage[] | { messages: BaseMessage[] }) => {
    const messages = Array.isArray(input) ? input : input.messages;
    const calls = turns[messages.filter((message) => message.getType() === "ai").length];
    return calls === undefined
      ? new AIMessage({ content: String(messages.at(-1)?.content) })
      : new AIMessage({ content: "", tool_calls: calls.map((call) => ({ ...call, type: "tool_call" })) });
  });
  return createReactAgent({ llm: (() => llm) as never, tools, version, checkpointer: new MemorySaver() });
}

describe.each(["v1", "v2"] as const)("createReactAgent %s", (version) => {
  it("runs tools through Belay, refuses what it must, and pays once for two equal answers at once", async () => {
    const far = farSide();
    const node = belayNode(far);
    const agent = reactAgent(node.toolNode, [[payCall("a", -1)], [payCall("b")]], version);
    const stopped = interruptOf(await agent.invoke(GO, THREAD));
    expect(stopped.approvals).toEqual([expect.objectContaining({ tool: "pay", args: { to: "b", cents: 500 } })]);
    const { messages } = (await agent.getState(THREAD)).values as { messages: BaseMessage[] };
    expect(JSON.stringify(messages)).toContain("invalid_arguments");
    expect(far.effects).toEqual([]);
    const resume = resumeWith({ ...stopped, answer: "approved" });
    const ended = await Promise.all([agent.invoke(resume, THREAD), agent.invoke(resume, THREAD)]);
    expect(ended.map((state) => answerOf(state))).toContain('{"paid":500}');
    expect(far.effects).toEqual(["b 500"]);
  });

  it("keeps a person's no, whatever the gate says when the node runs again", async () => {
    const far = farSide();
    const agent = reactAgent(belayNode(far).toolNode, [[payCall("a")]], version);
    const stopped = interruptOf(await agent.invoke(GO, THREAD));
    far.asks = false;
    const done = await agent.invoke(resumeWith({ ...stopped, answer: "rejected" }), THREAD);
    expect(answerOf(done)).toContain("approval_rejected");
    expect(far.effects).toEqual([]);
  });

  it("answers every call of a turn", async () => {
    const far = { ...farSide(), asks: false };
    const agent = reactAgent(belayNode(far).toolNode, [[payCall("a"), payCall("b")]], version);
    const { messages } = await agent.invoke(GO, THREAD);
    const results = messages.filter((message) => message.getType() === "tool");
    expect(results.map((message) => (message as unknown as { tool_call_id: string }).tool_call_id).sort()).toEqual([
      "call_a",
      "call_b",
    ]);
    expect(far.effects.toSorted()).toEqual(["a 500", "b 500"]);
  });
});

it("is the tool node of a graph of one's own too, and offers its tools by name", async () => {
  const far = { ...farSide(), asks: false };
  const { toolNode } = belayNode(far);
  expect(toolNode.tools.map(({ name }) => name)).toEqual(["pay"]);
  await graphOf(toolNode, [[payCall("a")]]).invoke({ messages: [new HumanMessage("pay")] }, THREAD);
  expect(far.effects).toEqual(["a 500"]);
});
