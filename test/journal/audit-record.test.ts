import { hash } from "node:crypto";
import { expect, it } from "vitest";
import type { RunEvent } from "../../src/core/index.ts";
import { auditRecordOf, isAudited } from "../../src/journal/index.ts";
import * as sample from "../../src/testing/index.ts";

const recordOf = (event: RunEvent, isAfterEnd = false) =>
  auditRecordOf({
    run: { tenant: "shop", runId: "run-1" },
    seq: 3,
    entry: { at: 5, event },
    eventHash: "of the event",
    journalHash: "of the run so far",
    isAfterEnd,
    principal: { kind: "customer", id: "c-1" },
  });

it("a record says who, where, when and what, and is bound to the stored event", () => {
  expect(recordOf(sample.approvalResolved("c-1", "apr-1", "approved"))).toEqual({
    tenant: "shop",
    principal: { kind: "customer", id: "c-1" },
    run: "run-1",
    seq: 3,
    at: 5,
    type: "approval.resolved",
    eventHash: "of the event",
    journalHash: "of the run so far",
    callId: "c-1",
    approvalId: "apr-1",
    answer: "approved",
    by: { kind: "person", id: "p-1" },
    argsHash: "args",
  });
});

it("a call refused before any rule is in the record of the reply that asked for it", () => {
  const refusal = { code: "unknown_tool", message: "no such tool", retryable: false };
  const call = { ...sample.sampleCall("c-1"), tool: "nuke", refusal };
  expect(recordOf(sample.repliedCalls(call))).toMatchObject({
    type: "call.requested",
    calls: [{ callId: "c-1", tool: "nuke", args: { order: 7 }, refused: "unknown_tool" }],
  });
});

it("a result is named by the hash of its canonical JSON, or of its blob, and never shown", () => {
  const valueHash = hash("sha256", '{"a":1,"b":2}');
  const record = recordOf(sample.callSettled("c-1", { b: 2, a: 1 }));
  expect(record).toMatchObject({ type: "call.settled", status: "ok", attempt: 1, valueHash });
  const value = { blob: { sha256: "abc", bytes: 9 } };
  expect(recordOf({ type: "call.settled", callId: "c-1", outcome: { status: "ok", value } })).toMatchObject({
    valueHash: "abc",
  });
  const error = { code: "ORDER_NOT_FOUND", message: "order 7 of Jane Doe", retryable: false };
  const failed = recordOf({ type: "call.settled", callId: "c-1", outcome: { status: "failed", error } });
  expect(failed).toMatchObject({ status: "failed", code: "ORDER_NOT_FOUND" });
  expect(JSON.stringify(failed)).not.toContain("Jane");
});

it("an answer and a message are named by their hashes, and a message by who sent it", () => {
  expect(recordOf(sample.repliedFinal("hello"))).toMatchObject({
    type: "model.replied",
    answerHash: hash("sha256", "hello"),
  });
  const queued = recordOf(sample.messageQueued("run-2"));
  expect(queued).toMatchObject({ type: "message.queued", messageId: "msg-run-2", nextRunId: "run-2" });
  expect(queued).toMatchObject({ by: { kind: "customer", id: "c-1" }, textHash: hash("sha256", "and then?") });
  expect(JSON.stringify(queued)).not.toContain("and then?");
  expect(recordOf({ type: "run.followed", nextRunId: "run-2" })).toMatchObject({ nextRunId: "run-2" });
});

it("segments, requests to the model and bookings leave no record of their own until the run has ended", () => {
  const silent: readonly RunEvent[] = [
    { type: "segment.started", worker: "w", fence: 1 },
    { type: "model.requested", reserved: { inputTokens: 1, outputTokens: 1 } },
    sample.budgetReserved("r-1", 5),
  ];
  for (const event of silent) {
    expect(recordOf(event)).toBeUndefined();
    expect(isAudited(event)).toBe(false);
    expect(recordOf(event, true)).toMatchObject({ type: event.type, eventHash: "of the event" });
    expect(isAudited(event, true)).toBe(true);
  }
});
