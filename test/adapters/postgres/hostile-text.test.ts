import { hash } from "node:crypto";
import * as fc from "fast-check";
import { expect, it } from "vitest";
import { decodeText, encodeText, indexKey } from "../../../src/adapters/postgres/text-code.ts";
import type { RunEvent } from "../../../src/core/index.ts";
import { verifyStoreAudit } from "../../../src/journal/index.ts";
import * as sample from "../../../src/testing/index.ts";
import { describeWithPostgres } from "./private-postgres.ts";
import { useServer } from "./use-server.ts";

const anyText = fc.string({
  unit: fc.oneof(fc.constantFrom("\0", "\u0001", "\u0002", "\u0003", "\ud800", "\udc00", "a"), fc.string()),
});

it("every text has a stored form that the server takes, and is read back as it was", async () => {
  await fc.assert(
    fc.property(anyText, (text) => {
      const encoded = encodeText(text);
      expect(encoded.isWellFormed() && !encoded.includes("\0")).toBe(true);
      expect(decodeText(encoded)).toBe(text);
    }),
  );
});

it("the stored form keeps the order of texts, and two texts never share a key", async () => {
  const wellFormed = anyText.filter((text) => text.isWellFormed());
  await fc.assert(
    fc.property(wellFormed, wellFormed, (one, other) => {
      const order = Math.sign(Buffer.compare(Buffer.from(one), Buffer.from(other)));
      const stored = Math.sign(Buffer.compare(Buffer.from(encodeText(one)), Buffer.from(encodeText(other))));
      expect(stored).toBe(order);
      expect(indexKey(one) === indexKey(other)).toBe(one === other);
    }),
  );
  expect(indexKey("#a")).not.toBe("#a");
  expect(indexKey("a".repeat(10_000)).length).toBeLessThan(100);
});

describeWithPostgres("text that databases stumble over", () => {
  const used = useServer();

  it.each([
    ["NUL", "a\u0000b\u0000"],
    ["our own escape", "\u0001\u0001\u0002\u0003d800"],
    ["quotes, braces and backslashes", `"\\{}',\\\\"NULL,null\n`],
    [
      "10,000 characters that do not compress",
      Array.from({ length: 10_000 }, (_, i) => hash("sha256", `${i}`)[0]).join(""),
    ],
    ["another 10,000", "🛒ü\u0000".repeat(2500)],
  ])("%s, in every place where a text can stand", async (name, text) => {
    await using store = await used.open(`hostile_${hash("sha256", name).slice(0, 8)}`);
    const short = text.slice(0, 100).toWellFormed();
    const run = { tenant: short, runId: `run ${short}` };
    const events: readonly RunEvent[] = [
      { ...sample.runStarted(short, text, text), input: text } as RunEvent,
      sample.repliedCalls(sample.sampleCall(text, { [text]: text })),
      { type: "call.decided", callId: text, decision: { verdict: "ask", code: text, reason: text, ruleId: text } },
      sample.approvalRequested(text, text),
      { ...sample.approvalResolved(text, text, "approved"), note: text } as RunEvent,
      sample.budgetReserved(text, 5, 10, text),
      sample.messageQueued(text),
      sample.repliedFinal(text),
    ];
    const blob = `blob ${text}`;
    const blobs = new Map([[hash("sha256", blob), blob]]);
    const entries = events.map((event) => ({ at: sample.SAMPLE_AT, event }));
    expect(await store.commit({ run, head: 0, entries, blobs })).toEqual({ status: "committed", head: events.length });
    expect((await store.read(run)).map(({ event }) => event)).toEqual(events);
    expect(await store.run(run)).toMatchObject({ ...run, input: text, answer: text, agent: text, nextRunId: text });
    expect(await store.approval(short, text)).toMatchObject({
      approvalId: text,
      note: text,
      reason: text,
      status: "approved",
    });
    expect(await store.budget(short, text)).toMatchObject({ reserved: 5 });
    expect(await store.conversation(short, text)).toHaveLength(1);
    expect(await store.blob(hash("sha256", blob))).toBe(blob);
    expect(await store.acquireLease(run, text, 10, 0)).toMatchObject({ status: "held" });
    expect(await store.acquireLease(run, `${text}x`, 10, 0)).toMatchObject({ status: "busy" });
    await store.commit({
      run,
      head: events.length,
      entries: [
        { at: sample.SAMPLE_AT, event: { type: "budget.settled", reservationId: text, budget: text, amount: 3 } },
      ],
    });
    expect(await store.budget(short, text)).toMatchObject({ reserved: 0, used: 3 });
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
  });

  it("a lone surrogate is refused in an event, and looking one up finds nothing of another name", async () => {
    await using store = await used.open("surrogates");
    const run = { tenant: "default", runId: "\ufffd" };
    const entries = [{ at: sample.SAMPLE_AT, event: sample.runStarted() }];
    await store.commit({ run, head: 0, entries });
    const bad = [{ at: sample.SAMPLE_AT, event: sample.repliedFinal("\ud800") }];
    await expect(store.commit({ run, head: 1, entries: bad })).rejects.toMatchObject({ code: "BELAY_EVENT_INVALID" });
    expect(await store.run(run)).toBeDefined();
    expect(await store.run({ tenant: "default", runId: "\ud800" })).toBeUndefined();
    expect(await store.approval("default", "\ud800")).toBeUndefined();
  });
});
