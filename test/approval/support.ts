import type { ApprovalRow } from "../../src/journal/index.ts";

/** A question about a refund of 300 that carol asked for; `over` changes it. */
export function question(over: Partial<ApprovalRow> = {}): ApprovalRow {
  return {
    ...{ tenant: "default", runId: "run_1", approvalId: "ap_1", callId: "call_1", agent: "shop" },
    ...{ tool: "refund", args: { order: "A", cents: 300 }, argsHash: "h", code: "LARGE", reason: "large" },
    ...{ ruleId: "limit", requester: { kind: "person", id: "carol" }, status: "pending" },
    ...{ requestedAt: 0, expiresAt: 1 },
    ...over,
  };
}
