import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import type { RunEvent } from "../../../src/core/index.ts";
import { allow, defineAgent, defineRule, defineTool } from "../../../src/index.ts";
import { problemPage } from "../../../src/server/pages/index.ts";
import type { ReconcileForm } from "../../../src/server/pages/session.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { calls, final } from "../../engine/support.ts";
import { testConsole } from "./support.ts";

describe("one run", () => {
  it("tells every step with its payload, tokens and cost", async () => {
    const console = testConsole();
    const { runId } = await console.run("Please refund order O-1001", "C-01");
    const text = await (await console.get(`/runs/${runId}`)).text();
    const entries = await console.store.read({ tenant: "default", runId });
    for (const { seq, event } of entries) {
      expect(text).toContain(`Entry ${seq}: <code>${event.type}</code>`);
    }
    for (const part of [
      "Step 1",
      "Step 3",
      "rule refund_allowed",
      "refunded_paise",
      "attempt 1",
      "I refunded Rs 1,500",
    ]) {
      expect(text).toContain(part);
    }
    expect(text).toMatch(/Cost<\/dt><dd class="number">\$0\.000\d/);
    expect(text).not.toContain("data-live=");
    expect(text).not.toContain("Cancel the run");
  });

  it("is cancelled with a reason, and says by whom", async () => {
    const console = testConsole();
    const { runId } = await console.run("Please refund order O-1011");
    expect(await (await console.get(`/runs/${runId}`, "olga")).text()).toContain("Cancel the run");
    const response = await console.post(`/runs/${runId}/cancel`, { note: "wrong customer" }, "olga");
    await console.settle();
    expect([response.status, response.headers.get("Location")]).toEqual([303, `/runs/${runId}`]);
    const text = await (await console.get(`/runs/${runId}`)).text();
    expect(text).toContain("A person cancelled the run.");
    expect(text).toContain("by olga");
    expect(text).toContain("wrong customer");
    expect(console.world.order("O-1011")?.refundedPaise).toBe(0);
  });

  it("shows a large result on a page of its own, and none through another run", async () => {
    const agent = defineAgent({
      name: "large",
      revision: "1",
      instructions: "Look.",
      tools: [
        defineTool({
          name: "look",
          description: "Looks",
          level: "read",
          recovery: "read",
          input: z.strictObject({ q: z.string() }),
          execute: async () => ({ text: `<b>${"z".repeat(90_000)}</b>` }),
        }),
      ],
      rules: [defineRule({ id: "all", decide: () => allow("OK", "fine") })],
    });
    const model = scriptedModel([calls(["look", { q: "x" }]), final("done"), final("nothing")]);
    const console = testConsole({ agent, model });
    const { runId } = await console.run("look");
    const other = await console.run("hello");
    const text = await (await console.get(`/runs/${runId}`)).text();
    const link = text.match(/\/runs\/[^/"]+\/values\/([0-9a-f]{64})/);
    const value = await (await console.get(link?.[0] ?? "")).text();
    expect(value).toContain(`&lt;b&gt;${"z".repeat(1000)}`);
    expect((await console.get(`/runs/${other.runId}/values/${link?.[1]}`)).status).toBe(404);
  });

  it("asks what became of a call whose outcome was lost", async () => {
    const said: ReconcileForm[] = [];
    const console = testConsole({
      change: (session) => ({
        ...session,
        reconcile: async (_c, form) => {
          said.push(form);
          return { ok: true, value: { tenant: "default", runId: form.runId } };
        },
      }),
    });
    const { runId } = await console.run("Please refund order O-1001");
    const lost: RunEvent = {
      type: "call.settled",
      callId: "c2.1",
      attempt: 1,
      outcome: { status: "unknown", error: { code: "outcome_unknown", message: "lost", retryable: false } },
    };
    const read = console.store.read.bind(console.store);
    Object.assign(console.store, {
      read: async (...args: Parameters<typeof read>) =>
        (await read(...args)).map((entry) =>
          entry.event.type === "call.settled" && entry.event.callId === "c2.1" ? { ...entry, event: lost } : entry,
        ),
    });
    const text = await (await console.get(`/runs/${runId}`)).text();
    expect(text).toContain("Nobody knows whether this happened");
    const path = `/runs/${runId}/reconcile`;
    expect((await console.post(path, { call: "c2.1", outcome: "perhaps", note: "x" })).status).toBe(422);
    expect((await console.post(path, { call: "c2.1", outcome: "happened", note: "seen in the ledger" })).status).toBe(
      303,
    );
    expect(said).toEqual([{ runId, callId: "c2.1", outcome: "happened", note: "seen in the ledger" }]);
  });
});

it("has a page for what a server refuses before it knows who asks", async () => {
  const app = new Hono().get("/", (c) =>
    problemPage(c, { status: 429, code: "BELAY_RATE_LIMITED", detail: "<b>slow</b>", retryAfterS: 3 }),
  );
  const response = await app.request("/");
  const text = await response.text();
  expect([response.status, response.headers.get("Retry-After")]).toEqual([429, "3"]);
  expect(text).toContain("Too many requests");
  expect(text).toContain("&lt;b&gt;slow");
  expect(text).not.toContain("<form");
});
