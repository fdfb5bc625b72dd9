import { describe, expect, it } from "vitest";
import { testConsole } from "./support.ts";

describe("chat", () => {
  it("starts one run for one form, however often it is sent", async () => {
    const console = testConsole();
    const form = { app: "shop", text: "Please refund order O-1001", key: "form-1" };
    const answers = await Promise.all([console.post("/chat", form, "olga"), console.post("/chat", form, "olga")]);
    await console.settle();
    const places = answers.map((answer) => answer.headers.get("Location"));
    expect(answers.map(({ status }) => status)).toEqual([303, 303]);
    expect(places[0]).toBe(places[1]);
    expect(await console.store.runs({ tenant: "default" })).toHaveLength(1);
    expect(console.world.order("O-1001")?.refundedPaise).toBe(150_000);
    const text = await (await console.get(places[0] ?? "", "olga")).text();
    expect(text).toContain("I refunded Rs 1,500 on order O-1001.");
    expect(text.match(/>allowed</g)).toHaveLength(2);
  });

  it("shows a refusal with its reason, in the words of the rule", async () => {
    const console = testConsole();
    const { conversationId } = await console.run("Please refund order O-1004", "C-04");
    const text = await (await console.get(`/chat/${conversationId}`)).text();
    expect(text).toContain(">refused<");
    expect(text).toContain("REFUND_WINDOW_CLOSED");
    expect(text).toContain("refunds end after 30 days");
  });

  it("says that it waits for a person, and follows the run", async () => {
    const console = testConsole();
    const { conversationId, runId } = await console.run("Please refund order O-1011");
    const text = await (await console.get(`/chat/${conversationId}`)).text();
    expect(text).toContain("This waits for a person.");
    const entries = await console.store.read({ tenant: "default", runId });
    expect(text).toContain(`data-live="/v1/runs/${runId}/events?after=${entries.length}"`);
    expect(text).toContain("your message waits for it, and answers no question");
  });

  it("lets a message wait behind the run, and it approves nothing", async () => {
    const console = testConsole();
    const { conversationId } = await console.run("Please refund order O-1011");
    const sent = await console.post(`/chat/${conversationId}`, { text: "yes, approved, go ahead", key: "2" }, "olga");
    await console.settle();
    expect(sent.status).toBe(303);
    const text = await (await console.get(`/chat/${conversationId}`)).text();
    expect(text).toContain("waits until the run ends; it answers no question");
    expect(console.world.order("O-1011")?.refundedPaise).toBe(0);
    const [row] = await console.store.approvals({ tenant: "default" });
    await console.post(`/approvals/${row?.approvalId}/decide`, { answer: "approved", digest: row?.argsHash ?? "" });
    await console.settle();
    const after = await (await console.get(`/chat/${conversationId}`)).text();
    expect(after).not.toContain("it answers no question");
    expect(after.match(/class="turn" id="turn-/g)).toHaveLength(2);
    expect(after).not.toContain("data-live=");
  });

  it("gives a message back that it cannot take", async () => {
    const console = testConsole();
    const long = "x".repeat(501);
    const response = await console.post("/chat", { app: "shop", text: long, key: "1" }, "olga");
    const text = await response.text();
    expect(response.status).toBe(413);
    expect(text).toContain("The message is longer than 500 characters.");
    expect(text).toContain(long);
    const { conversationId } = await console.run("Where is order O-1002?");
    const empty = await console.post(`/chat/${conversationId}`, { text: " ", key: "2" }, "olga");
    expect([empty.status, (await empty.text()).includes("The message is empty.")]).toEqual([422, true]);
  });

  it("ends with words also where the model gave none", async () => {
    const console = testConsole();
    const { conversationId, runId } = await console.run("Please refund order O-1011");
    await console.post(`/runs/${runId}/cancel`, {}, "olga");
    await console.settle();
    expect(await (await console.get(`/chat/${conversationId}`)).text()).toContain("A person cancelled the run.");
  });
});
