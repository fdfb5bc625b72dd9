/**
 * A LangGraph graph whose tools stand behind Belay: the graph is interrupted for a person, and an approval that arrives
 * twice at once pays once. LangGraph's own tool node pays twice.
 */
import assert from "node:assert/strict";
import { AIMessage, HumanMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { Command, END, interrupt, MemorySaver, MessagesAnnotation, START, StateGraph } from "@langchain/langgraph";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { allow, ask } from "belay-harness";
import { type ApprovalInterrupt, belayToolNode } from "belay-harness/langgraph";
import { createMemoryStore, verifyStoreAudit } from "belay-harness/store";
import { z } from "zod";

const input = z.strictObject({ to: z.string(), cents: z.int().positive() });
type Payment = z.infer<typeof input>;
const about = { name: "pay", description: "Pay an amount", schema: input };
const paid: string[] = [];

async function payNow({ to, cents }: Payment): Promise<string> {
  await new Promise((resolve) => setTimeout(resolve, 5));
  paid.push(`${to} ${cents}`);
  return `paid ${cents} to ${to}`;
}

/** As LangGraph's guides write it: the tool interrupts the graph by itself. */
const selfMade = new ToolNode([
  tool((args: Payment) => (interrupt({ pay: args }) === "yes" ? payNow(args) : "a person said no"), about),
]);

/** Belay's node: the tool only pays; rules, approval, record and exactly-once are around it. */
const store = createMemoryStore();
const behindBelay = belayToolNode({
  name: "payments",
  tools: [tool(payNow, about)],
  contracts: { pay: { level: "irreversible", recovery: "keyed" } },
  rules: [
    {
      id: "limit",
      decide: ({ args }) => (input.parse(args).cents > 2000 ? ask("ABOVE_LIMIT", "above 20.00") : allow("OK", "small")),
    },
  ],
  store,
  // The value comes from whoever resumes the graph; who they are comes from the server's own session.
  decisionsOf: (resume, config) =>
    (resume as ApprovalInterrupt).approvals.map(({ approvalId, argsHash }) => ({
      approvalId,
      argsHash,
      answer: "approved",
      by: { kind: "person", id: String(config.configurable?.["user"]) },
    })),
});

/** A stand-in for a model: it asks for one payment, and then reports what came of it. */
function model({ messages }: typeof MessagesAnnotation.State) {
  const last = messages.at(-1);
  const call = { name: "pay", args: { to: "ann", cents: 5000 }, id: "call_1", type: "tool_call" } as const;
  const reply = last?.getType() === "tool" ? { content: String(last.content) } : { content: "", tool_calls: [call] };
  return { messages: [new AIMessage(reply)] };
}

function graphOf(tools: typeof selfMade | typeof behindBelay) {
  return new StateGraph(MessagesAnnotation)
    .addNode("model", model)
    .addNode("tools", tools)
    .addEdge(START, "model")
    .addConditionalEdges("model", ({ messages }) => (messages.at(-1)?.text === "" ? "tools" : END))
    .addEdge("tools", "model")
    .compile({ checkpointer: new MemorySaver() });
}

/** Runs a graph until it asks, and delivers the same answer twice at once. */
async function answeredTwice(tools: typeof selfMade | typeof behindBelay, answerOf: (asked: unknown) => unknown) {
  paid.length = 0;
  const graph = graphOf(tools);
  const config = { configurable: { thread_id: "t", user: "dana" } };
  const asked = (await graph.invoke({ messages: [new HumanMessage("Pay Ann")] }, config)) as {
    readonly __interrupt__?: readonly { readonly value: unknown }[];
  };
  const resume = new Command({ resume: answerOf(asked.__interrupt__?.[0]?.value) as object }) as never;
  await Promise.all([graph.invoke(resume, config), graph.invoke(resume, config)]);
  return [...paid];
}

assert.deepEqual(await answeredTwice(selfMade, () => "yes"), ["ann 5000", "ann 5000"]);
assert.deepEqual(await answeredTwice(behindBelay, (asked) => asked), ["ann 5000"]);
assert.equal((await verifyStoreAudit(store)).ok, true);
process.stdout.write("The same approval twice: LangGraph's tool node paid 2 times, Belay's once.\n");
