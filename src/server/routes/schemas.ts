import { z } from "@hono/zod-openapi";
import type { JsonValue } from "../../core/index.ts";

const PAGE_MAX: number = 200;
const PAGE_DEFAULT = 50;
const MESSAGE_CHARACTERS_MAX = 8000;

interface StartRunBody {
  readonly app: string;
  readonly input: string;
  readonly customer?: string | undefined;
  readonly conversationId?: string | undefined;
  readonly offeredTools?: string[] | undefined;
}

interface DecideBody {
  readonly answer: "approve" | "reject";
  readonly argsHash: string;
  readonly reason?: string | undefined;
}

interface ReconcileBody {
  readonly runId: string;
  readonly outcome: "happened" | "did_not_happen";
  readonly note: string;
  readonly value?: JsonValue | undefined;
}

const id = z.string().regex(/^[\w.:@-]{1,128}$/, "1 to 128 of A-Z a-z 0-9 _ . : @ -");
const at = z.int().openapi({ description: "milliseconds since 1970", example: 1_800_000_000_000 });
const principal = z
  .strictObject({ kind: z.enum(["customer", "person", "agent", "system"]), id: z.string() })
  .openapi("Principal", { example: { kind: "customer", id: "C-05" } });
const json = z.unknown().openapi({ description: "any JSON value" });

export const limitQuery: z.ZodType<number> = z.coerce.number().int().min(1).max(PAGE_MAX).default(PAGE_DEFAULT);
export const cursorQuery: z.ZodType<string | undefined> = z
  .string()
  .max(400)
  .optional()
  .openapi({ description: "`nextCursor` of the page before; opaque" });

export const problemSchema: z.ZodType = z
  .looseObject({
    type: z.string(),
    title: z.string(),
    status: z.int(),
    code: z.string().openapi({ description: "stable; see docs/errors.md" }),
    detail: z.string(),
  })
  .openapi("Problem", {
    description: "RFC 9457",
    example: {
      type: "urn:belay:problem:run_unknown",
      title: "Not found",
      status: 404,
      code: "BELAY_RUN_UNKNOWN",
      detail: "there is no such run here; see GET /v1/runs",
    },
  });

export const startRunBody: z.ZodType<StartRunBody> = z
  .strictObject({
    app: z.string().max(64),
    input: z.string().max(MESSAGE_CHARACTERS_MAX),
    customer: id.optional().openapi({ description: "for whom the run works; default whoever starts it" }),
    conversationId: id.optional(),
    offeredTools: z.array(z.string().max(64)).max(64).optional(),
  })
  .openapi("StartRun", { example: { app: "shop", input: "Where is my order O-1001?", customer: "C-01" } });

export const messageBody: z.ZodType<{ readonly text: string }> = z
  .strictObject({ text: z.string().max(MESSAGE_CHARACTERS_MAX) })
  .openapi("SendMessage", { example: { text: "And the other one?" } });

export const cancelBody: z.ZodType<{ readonly reason?: string | undefined }> = z
  .strictObject({ reason: z.string().max(1000).optional() })
  .openapi("CancelRun", { example: { reason: "the customer called" } });

export const decideBody: z.ZodType<DecideBody> = z
  .strictObject({
    answer: z.enum(["approve", "reject"]),
    argsHash: z
      .string()
      .regex(/^[0-9a-f]{64}$/)
      .openapi({ description: "digest of the arguments that were shown" }),
    reason: z.string().max(1000).optional(),
  })
  .openapi("Decide", { example: { answer: "approve", argsHash: "0".repeat(64), reason: "receipt seen" } });

export const reconcileBody: z.ZodType<ReconcileBody> = z
  .strictObject({
    runId: id.openapi({ description: "run of the call; call ids are unique within their run alone" }),
    outcome: z.enum(["happened", "did_not_happen"]),
    note: z.string().trim().min(1).max(1000).openapi({ description: "how this is known" }),
    value: z.json().optional().openapi({ type: "object", description: "what the call gave, any JSON value" }),
  })
  .openapi("Reconcile", {
    example: { runId: "run_1", outcome: "happened", note: "statement of today", value: { receipt: "R-7" } },
  });

export const reconciledSchema: z.ZodType = z
  .strictObject({
    runId: z.string(),
    callId: z.string(),
    outcome: z.enum(["happened", "did_not_happen"]),
    status: z.literal("recorded"),
  })
  .openapi("Reconciled", {
    example: { runId: "run_1", callId: "c1.1", outcome: "happened", status: "recorded" },
  });

export const idempotencyHeader: z.ZodType<string | undefined> = z
  .string()
  .regex(/^[\x21-\x7e]{1,200}$/, "1 to 200 printable ASCII characters")
  .optional();

export const preferHeader: z.ZodType<string | undefined> = z
  .string()
  .max(200)
  .optional()
  .openapi({ example: "wait=10" });

export const startedSchema: z.ZodType = z
  .strictObject({ runId: z.string(), conversationId: z.string(), status: z.enum(["accepted", "replayed"]) })
  .openapi("StartedRun", { example: { runId: "run_1", conversationId: "cnv_1", status: "accepted" } });

export const sentSchema: z.ZodType = z
  .strictObject({
    runId: z.string(),
    status: z.enum(["started", "queued"]),
    behind: z.string().optional().openapi({ description: "the unfinished run that the message waits for" }),
  })
  .openapi("SentMessage", { example: { runId: "run_2", status: "queued", behind: "run_1" } });

const runFields = {
  runId: z.string(),
  app: z.string().optional(),
  agent: z.string(),
  conversationId: z.string(),
  principal,
  input: z.string(),
  status: z.enum(["running", "waiting", "done", "failed"]),
  termination: z.string().optional(),
  label: z.string().optional().openapi({ description: "the agent's own word for its termination" }),
  answer: z.string().optional(),
  head: z.int().openapi({ description: "sequence of the newest event" }),
  startedAt: at,
  updatedAt: at,
  nextRunId: z.string().optional(),
  inDoubt: z
    .array(z.string())
    .optional()
    .openapi({ description: "calls whose outcome nobody knows; see POST /v1/calls/{id}:reconcile" }),
};

const RUN_EXAMPLE = {
  runId: "run_1",
  app: "shop",
  agent: "shop",
  conversationId: "cnv_1",
  principal: { kind: "customer" as const, id: "C-01" },
  input: "Where is my order O-1001?",
  status: "done" as const,
  termination: "completed",
  label: "final",
  answer: "It has been delivered.",
  head: 12,
  startedAt: 1_800_000_000_000,
  updatedAt: 1_800_000_000_100,
};

export const runSummarySchema: z.ZodType = z.strictObject(runFields).openapi("RunSummary", { example: RUN_EXAMPLE });

export const approvalSchema: z.ZodType = z
  .strictObject({
    approvalId: z.string(),
    runId: z.string(),
    callId: z.string(),
    agent: z.string(),
    tool: z.string(),
    args: json,
    argsHash: z.string(),
    code: z.string(),
    reason: z.string(),
    ruleId: z.string(),
    requester: principal,
    status: z.enum(["pending", "approved", "rejected", "expired", "void"]),
    isIntact: z.boolean().openapi({
      description: "false: tool or arguments were changed in the store since it was asked; it cannot be decided",
    }),
    requestedAt: at,
    expiresAt: at,
    resolvedAt: at.optional(),
    resolvedBy: principal.optional(),
    note: z.string().optional(),
  })
  .openapi("Approval", {
    example: {
      approvalId: "apr_1",
      runId: "run_1",
      callId: "c1",
      agent: "shop",
      tool: "refund_order",
      args: { order_id: "O-1005", amount: 400_000 },
      argsHash: "0".repeat(64),
      code: "ABOVE_LIMIT",
      reason: "above the automatic limit",
      ruleId: "auto_limit",
      requester: { kind: "customer", id: "C-05" },
      status: "pending",
      isIntact: true,
      requestedAt: 1_800_000_000_000,
      expiresAt: 1_800_086_400_000,
    },
  });

const callSchema = z.strictObject({
  callId: z.string(),
  tool: z.string(),
  args: json,
  status: z.string(),
  decision: z
    .strictObject({ verdict: z.string(), code: z.string(), reason: z.string(), ruleId: z.string() })
    .optional(),
  outcome: z
    .strictObject({ status: z.string(), code: z.string().optional(), message: z.string().optional() })
    .optional(),
  reconciled: z
    .strictObject({ outcome: z.enum(["happened", "did_not_happen"]), by: principal, note: z.string(), at })
    .optional()
    .openapi({ description: "what a person found out about an unknown outcome" }),
});

export const runSchema: z.ZodType = z
  .strictObject({
    ...runFields,
    phase: z.string(),
    calls: z.array(callSchema),
    approvals: z.array(approvalSchema).openapi({ description: "the questions that are open" }),
    usage: z.strictObject({
      modelCalls: z.int(),
      inputTokens: z.int(),
      outputTokens: z.int(),
      costNanoUsd: z.number().nullable().openapi({ description: "null when the price is unknown" }),
      estimated: z.boolean(),
    }),
  })
  .openapi("Run", {
    example: {
      ...RUN_EXAMPLE,
      phase: "DONE",
      calls: [],
      approvals: [],
      usage: { modelCalls: 2, inputTokens: 400, outputTokens: 60, costNanoUsd: 96_000, estimated: false },
    },
  });

const voteSchema: z.ZodType = z.strictObject({
  personId: z.string(),
  name: z.string(),
  reason: z.string().optional(),
  at,
});

export const decidedSchema: z.ZodType = z
  .strictObject({
    status: z.enum(["approved", "rejected", "collected"]),
    approval: approvalSchema,
    isLookedAt: z.boolean().openapi({ description: "the rules have looked at today's world and let the call through" }),
    needed: z.int().optional(),
    given: z.array(voteSchema).optional(),
  })
  .openapi("Decided");

export const checkpointSchema: z.ZodType = z
  .strictObject({
    origin: z.string(),
    size: z.int(),
    root: z.string(),
    note: z.string().optional().openapi({ description: "the checkpoint as a signed note, when the server has a key" }),
    verifierKey: z.string().optional(),
  })
  .openapi("Checkpoint", { example: { origin: "belay/audit", size: 3, root: "0".repeat(64) } });

export const auditRecordSchema: z.ZodType = z
  .strictObject({ seq: z.int(), text: z.string(), leaf: z.string(), record: json })
  .openapi("AuditRecord", { example: { seq: 0, text: "{}", leaf: "0".repeat(64), record: {} } });

export const proofSchema: z.ZodType = z
  .strictObject({ index: z.int(), size: z.int(), leaf: z.string(), root: z.string(), proof: z.array(z.string()) })
  .openapi("InclusionProof", { example: { index: 0, size: 1, leaf: "0".repeat(64), root: "0".repeat(64), proof: [] } });
