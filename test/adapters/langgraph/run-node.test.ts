import { Annotation, END, MemorySaver, START, StateGraph } from "@langchain/langgraph";
import { describe, expect, it } from "vitest";
import { belayRunNode } from "../../../src/adapters/langgraph/index.ts";
import { calls, final, refundTool, world } from "../../engine/support.ts";
import { decisionsOf, interruptOf, resumeWith, THREAD } from "./support.ts";

const State = Annotation.Root({ question: Annotation<string>, answer: Annotation<string>, visits: Annotation<number> });

function setup(turns = 1) {
  const big = calls(["refund", { order: "A1", cents: 5000 }]);
  const refunds = world(Array.from({ length: turns }, () => [big, final("Refunded.")]).flat(), {
    tools: (ledger) => [refundTool(ledger)],
  });
  const node = belayRunNode<typeof State.State, Partial<typeof State.State>>({
    harness: refunds.harness,
    input: ({ question }) => question,
    output: ({ answer = "", label = "" }, { visits = 0 }) => ({ answer: `${label}: ${answer}`, visits: visits + 1 }),
    principalOf: () => ({ kind: "customer", id: "amy" }),
    conversationOf: (config) => `thread-${config.configurable?.["thread_id"]}`,
    decisionsOf,
  });
  const graph = new StateGraph(State)
    .addNode("desk", node)
    .addEdge(START, "desk")
    .addConditionalEdges("desk", ({ visits }) => (visits < turns ? "desk" : END))
    .compile({ checkpointer: new MemorySaver() });
  return { ...refunds, graph };
}

describe("a Belay run as a node", () => {
  it("interrupts the graph while a person is asked, and resumes the same run", async () => {
    const { graph, effects, options, model } = setup();
    const stopped = interruptOf(await graph.invoke({ question: "refund A1", answer: "", visits: 0 }, THREAD));
    expect(stopped.approvals).toEqual([expect.objectContaining({ tool: "refund", code: "ABOVE_LIMIT" })]);
    const done = await graph.invoke(resumeWith({ ...stopped, answer: "approved" }), THREAD);
    expect(done).toMatchObject({ answer: "completed: Refunded.", visits: 1 });
    expect(effects).toEqual(["A1:5000"]);
    model.assertConsumed();
    const runs = await options.store.conversation("default", "thread-t");
    expect(runs.map(({ status, principal }) => [status, principal.id])).toEqual([["done", "amy"]]);
  });

  it("does it once when the approval comes twice, at once and at the checkpoint that asked", async () => {
    const { graph, effects } = setup();
    const stopped = interruptOf(await graph.invoke({ question: "refund A1", answer: "", visits: 0 }, THREAD));
    const asked = (await graph.getState(THREAD)).config;
    const config = { configurable: { ...asked.configurable, ...THREAD.configurable } };
    const resume = resumeWith({ ...stopped, answer: "approved" });
    await Promise.all([graph.invoke(resume, THREAD), graph.invoke(resume, THREAD)]);
    const again = await graph.invoke(resume, config);
    expect(again).toMatchObject({ answer: "completed: Refunded." });
    expect(effects).toEqual(["A1:5000"]);
  });

  it("is another run for each visit", async () => {
    const { graph, effects } = setup(2);
    let state: unknown = await graph.invoke({ question: "refund A1", answer: "", visits: 0 }, THREAD);
    for (let visit = 0; visit < 2; visit += 1) {
      state = await graph.invoke(resumeWith({ ...interruptOf(state), answer: "approved" }), THREAD);
    }
    expect(state).toMatchObject({ visits: 2 });
    expect(effects).toEqual(["A1:5000", "A1:5000"]);
  });

  it("hands a no to the graph as an outcome", async () => {
    const { graph, effects } = setup();
    const stopped = interruptOf(await graph.invoke({ question: "refund A1", answer: "", visits: 0 }, THREAD));
    const done = await graph.invoke(resumeWith({ ...stopped, answer: "rejected" }), THREAD);
    expect(done).toMatchObject({ answer: "completed: Refunded." });
    expect(effects).toEqual([]);
  });
});
