import { AIMessage, isToolMessage, type ToolMessage } from "@langchain/core/messages";
import { tool } from "@langchain/core/tools";
import { ToolNode } from "@langchain/langgraph/prebuilt";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { graphTools } from "../../../src/adapters/langgraph/index.ts";
import { verifyStoreAudit } from "../../../src/journal/index.ts";
import {
  answerOf,
  belayNode,
  farSide,
  GO,
  graphOf,
  interruptingTool,
  interruptOf,
  payCall,
  plainTool,
  resumeWith,
  THREAD,
} from "./support.ts";

describe("in place of LangGraph's tool node", () => {
  it("runs the calls of a message and answers each by its id", async () => {
    const far = { ...farSide(), asks: false };
    const graph = graphOf(belayNode(far), [
      [payCall("a", 1), payCall("b", 2)],
      [payCall("c", -1), { name: "hack", args: {}, id: "x" }],
    ]);
    const { messages } = await graph.invoke(GO, THREAD);
    const results = messages.filter((message): message is ToolMessage => isToolMessage(message));
    expect(results.map(({ tool_call_id, status, name }) => [tool_call_id, status, name])).toEqual([
      ["call_a", "success", "pay"],
      ["call_b", "success", "pay"],
      ["call_c", "error", "pay"],
      ["x", "error", "hack"],
    ]);
    expect(JSON.parse(String(results[2]?.content))).toMatchObject({ error: "invalid_arguments" });
    expect(JSON.parse(String(results[3]?.content))).toMatchObject({ error: "unknown_tool" });
    expect(far.effects).toEqual(["a 1", "b 2"]);
  });

  it("takes the calls of two turns for two, also when the model gives them the same id and arguments", async () => {
    const far = { ...farSide(), asks: false };
    const graph = graphOf(belayNode(far), [[payCall("a")], [payCall("a")]]);
    await graph.invoke(GO, THREAD);
    expect(far.effects).toEqual(["a 500", "a 500"]);
    expect(new Set(far.keys).size).toBe(2);
  });

  it("interrupts for a person, shows all of it, and goes on with the answer", async () => {
    const far = farSide();
    const node = belayNode(far);
    const graph = graphOf(node, [[payCall("a")]]);
    const stopped = interruptOf(await graph.invoke(GO, THREAD));
    expect(stopped.approvals).toEqual([
      expect.objectContaining({ tool: "pay", args: { to: "a", cents: 500 }, code: "ASK", reason: "a person decides" }),
    ]);
    expect(far.effects).toEqual([]);
    const resumed = await graph.invoke(resumeWith({ ...stopped, answer: "approved" }), THREAD);
    expect(answerOf(resumed)).toBe(JSON.stringify(['{"paid":500}']));
    expect(far.effects).toEqual(["a 500"]);
    expect(await verifyStoreAudit(node.harness.store)).toMatchObject({ ok: true });
  });

  it("takes no answer from somebody who may not give one, and asks again", async () => {
    const far = farSide();
    const graph = graphOf(belayNode(far, { principalOf: () => ({ kind: "person", id: "sam" }) }), [[payCall("a")]]);
    let stopped = interruptOf(await graph.invoke(GO, THREAD));
    for (const user of ["sam", ""]) {
      const config = { configurable: { ...THREAD.configurable, user } };
      stopped = interruptOf(await graph.invoke(resumeWith({ ...stopped, answer: "approved" }), config));
      expect(far.effects).toEqual([]);
      expect(stopped.problems).toHaveLength(1);
    }
    await graph.invoke(resumeWith({ ...stopped, answer: "approved" }), THREAD);
    expect(far.effects).toEqual(["a 500"]);
  });

  it("is not stuck on an answer that nobody can read", async () => {
    const far = farSide();
    const graph = graphOf(belayNode(far), [[payCall("a")]]);
    const first = interruptOf(await graph.invoke(GO, THREAD));
    for (const junk of [{ approvals: 5 }, { approvals: [{}] }, "yes"]) {
      expect(interruptOf(await graph.invoke(resumeWith(junk), THREAD)).problems).toHaveLength(1);
    }
    await graph.invoke(resumeWith({ ...first, answer: "approved" }), THREAD);
    expect(far.effects).toEqual(["a 500"]);
  });

  it("answers its own questions only", async () => {
    const far = farSide();
    const node = belayNode(far);
    const graph = graphOf(node, [[payCall("a")]]);
    const other = { configurable: { ...THREAD.configurable, thread_id: "other" } };
    const own = interruptOf(await graph.invoke(GO, THREAD));
    await graph.invoke(GO, other);
    const answered = await graph.invoke(resumeWith({ ...own, answer: "approved" }), other);
    expect(interruptOf(answered).problems).toEqual(["unknown_approval"]);
    const approvalId = own.approvals[0]?.approvalId ?? "";
    expect((await node.harness.store.approval("default", approvalId))?.status).toBe("pending");
    expect(far.effects).toEqual([]);
  });

  it("looks only whether somebody has answered elsewhere when it is given no answers", async () => {
    const far = farSide();
    const node = belayNode(far, { decisionsOf: () => [] });
    const graph = graphOf(node, [[payCall("a"), payCall("b")]]);
    const stopped = interruptOf(await graph.invoke(GO, THREAD));
    const again = interruptOf(await graph.invoke(resumeWith({ forged: "approved" }), THREAD));
    expect(again.approvals).toHaveLength(2);
    for (const [index, { approvalId }] of stopped.approvals.entries()) {
      const answer = index === 0 ? "approved" : "rejected";
      await node.harness.decide({ approvalId, answer, by: { kind: "person", id: "lee" } });
    }
    const done = await graph.invoke(resumeWith({}), THREAD);
    expect(answerOf(done)).toContain("approval_rejected");
    expect(far.effects).toEqual(["a 500"]);
  });

  it("tells the model of malformed calls, which LangGraph leaves without a result", async () => {
    const far = farSide();
    const message = new AIMessage({
      id: "m",
      content: "",
      tool_calls: [],
      invalid_tool_calls: [{ id: "bad", name: "pay", args: '{"to": "a", "cents":', type: "invalid_tool_call" }],
    });
    const node = belayNode(far);
    const { messages } = await node({ messages: [message] }, THREAD);
    expect(messages.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([["bad", "error"]]);
  });

  it("takes one call that a graph sends to it, once", async () => {
    const far = { ...farSide(), asks: false };
    const node = belayNode(far);
    const messages = [new AIMessage({ id: "m", content: "", tool_calls: [{ ...payCall("a"), type: "tool_call" }] })];
    const sent = { lg_tool_call: payCall("a"), messages };
    const [first, second] = [await node(sent, THREAD), await node(sent, THREAD)];
    expect(first.messages.map(({ tool_call_id, status }) => [tool_call_id, status])).toEqual([["call_a", "success"]]);
    expect(second.messages[0]?.content).toBe(first.messages[0]?.content);
    expect(far.effects).toEqual(["a 500"]);
    await expect(node({ messages: [] }, THREAD)).rejects.toThrow(/needs a message of the model/);
  });

  it("answers a list of messages with a list", async () => {
    const far = { ...farSide(), asks: false };
    const message = new AIMessage({ id: "m", content: "", tool_calls: [{ ...payCall("a"), type: "tool_call" }] });
    const results = (await belayNode(far)([message], THREAD)) as unknown as ToolMessage[];
    expect(results.map(({ tool_call_id }) => tool_call_id)).toEqual(["call_a"]);
  });

  it("needs a contract for each tool and a schema that can describe itself", () => {
    const far = farSide();
    expect(() => belayNode(far, { contracts: {} })).toThrow(/has no contract/);
    const contract = { level: "write", recovery: "keyed" } as const;
    expect(() => graphTools([plainTool(far)], { pay: contract, mail: contract })).toThrow(/no such tool/);
    const untyped = tool(() => "x", { name: "pay", description: "", schema: { type: "object", properties: {} } });
    expect(() => belayNode(far, { tools: [untyped] })).toThrow(expect.objectContaining({ code: "BELAY_TOOL_SCHEMA" }));
  });

  it("gives each tool its key and takes a tool message for its content", async () => {
    const far = { ...farSide(), asks: false };
    const odd = tool(async () => new AIMessage("not a tool message"), {
      name: "odd",
      description: "",
      schema: z.object({}),
    });
    const contracts = {
      pay: { level: "irreversible", recovery: "keyed" },
      odd: { level: "write", recovery: "keyed" },
    } as const;
    const node = belayNode(far, { tools: [plainTool(far), odd], contracts });
    const graph = graphOf(node, [[payCall("a"), { name: "odd", args: {}, id: "o" }]]);
    const done = await graph.invoke(GO, THREAD);
    expect(far.keys).toEqual([expect.stringMatching(/^default\/graph_\w{40}\/c1\.1$/)]);
    expect(answerOf(done)).toContain("result_not_json");
  });
});

/** What happens on the installed packages, without Belay and with it. */
describe("the same approval delivered twice", () => {
  const setups = {
    langgraph: () => {
      const far = farSide();
      return { far, graph: graphOf(new ToolNode([interruptingTool(far)]), [[payCall("a")]]) };
    },
    belay: () => {
      const far = farSide();
      return { far, graph: graphOf(belayNode(far), [[payCall("a")]]) };
    },
  };
  const resumeOf = (kind: string, stopped: unknown) =>
    resumeWith(kind === "belay" ? { ...interruptOf(stopped), answer: "approved" } : "approved");

  it.each([
    ["langgraph", 2],
    ["belay", 1],
  ] as const)("at once: %s pays %i time(s)", async (kind, times) => {
    const { far, graph } = setups[kind]();
    const stopped = await graph.invoke(GO, THREAD);
    const ended = await Promise.allSettled([1, 2].map(() => graph.invoke(resumeOf(kind, stopped), THREAD)));
    expect(ended.map(({ status }) => status)).toEqual(["fulfilled", "fulfilled"]);
    expect(far.effects).toHaveLength(times);
  });

  it.each([
    ["langgraph", 1],
    ["belay", 1],
  ] as const)("in sequence, after the graph has ended: %s pays %i time(s)", async (kind, times) => {
    const { far, graph } = setups[kind]();
    const stopped = await graph.invoke(GO, THREAD);
    await graph.invoke(resumeOf(kind, stopped), THREAD);
    await graph.invoke(resumeOf(kind, stopped), THREAD);
    expect(far.effects).toHaveLength(times);
  });

  it.each([
    ["langgraph", 2],
    ["belay", 1],
  ] as const)("in sequence, at the checkpoint that asked: %s pays %i time(s)", async (kind, times) => {
    const { far, graph } = setups[kind]();
    const stopped = await graph.invoke(GO, THREAD);
    const asked = (await graph.getState(THREAD)).config;
    const config = { configurable: { ...asked.configurable, ...THREAD.configurable } };
    await graph.invoke(resumeOf(kind, stopped), config);
    await graph.invoke(resumeOf(kind, stopped), config);
    expect(far.effects).toHaveLength(times);
  });
});

describe("arguments edited after the request", () => {
  const edit = async (graph: ReturnType<typeof graphOf>) => {
    const { messages } = (await graph.getState(THREAD)).values as { messages: AIMessage[] };
    const last = messages.at(-1);
    const edited = { ...payCall("mallory", 999_999, "call_a"), type: "tool_call" as const };
    await graph.updateState(THREAD, {
      messages: [new AIMessage({ ...(last?.id && { id: last.id }), content: "", tool_calls: [edited] })],
    });
  };

  it("LangGraph runs them with the yes that was given for others", async () => {
    const far = farSide();
    const graph = graphOf(new ToolNode([interruptingTool(far)]), [[payCall("a")]]);
    await graph.invoke(GO, THREAD);
    await edit(graph);
    await graph.invoke(resumeWith("approved"), THREAD);
    expect(far.effects).toEqual(["mallory 999999"]);
  });

  it("Belay refuses them, tells the model, and the old question is void", async () => {
    const far = farSide();
    const node = belayNode(far);
    const graph = graphOf(node, [[payCall("a")]]);
    const stopped = interruptOf(await graph.invoke(GO, THREAD));
    await edit(graph);
    const done = await graph.invoke(resumeWith({ ...stopped, answer: "approved" }), THREAD);
    expect(answerOf(done)).toContain("state_tampered");
    const { approvalId, argsHash } = stopped.approvals[0] ?? { approvalId: "", argsHash: "" };
    await node.harness.decide({ approvalId, argsHash, answer: "approved", by: { kind: "person", id: "lee" } });
    await node.harness.recover();
    expect(far.effects).toEqual([]);
    expect((await node.harness.store.approval("default", approvalId))?.status).toBe("void");
  });
});

describe("a reject followed by a gate that would let it through", () => {
  it("LangGraph asks the gate again when it runs the node again, and pays", async () => {
    const far = farSide();
    const graph = graphOf(new ToolNode([interruptingTool(far)]), [[payCall("a")]]);
    await graph.invoke(GO, THREAD);
    far.asks = false;
    await graph.invoke(resumeWith("rejected"), THREAD);
    expect(far.effects).toEqual(["a 500"]);
  });

  it("Belay keeps the no", async () => {
    const far = farSide();
    const graph = graphOf(belayNode(far), [[payCall("a")]]);
    const stopped = interruptOf(await graph.invoke(GO, THREAD));
    far.asks = false;
    const done = await graph.invoke(resumeWith({ ...stopped, answer: "rejected" }), THREAD);
    expect(answerOf(done)).toContain("approval_rejected");
    expect(far.effects).toEqual([]);
  });
});
