import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { BelayErrorCode } from "../../errors.ts";
import type { ApprovalRow } from "../../journal/index.ts";
import type { ServerEnv } from "../http/env.ts";
import { HttpProblem } from "../http/problem.ts";
import type { Decided } from "../operations/operation.ts";
import { checkMay } from "../operations/permission.ts";
import { type RouteContext, signedInOf } from "./context.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { addRoute } from "./define-route.ts";
import { waitOf } from "./prefer.ts";
import { responses } from "./responses.ts";
import { approvalView } from "./run-view.ts";
import * as schema from "./schemas.ts";

/** The inbox and the answers. */
export function addApprovalRoutes(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  addRoute(app, {
    method: "get",
    path: "/v1/approvals",
    summary: "List questions, oldest first",
    query: {
      status: z.enum(["pending", "approved", "rejected", "expired", "void"]).optional(),
      runId: z.string().max(128).optional(),
      limit: schema.limitQuery,
      cursor: schema.cursorQuery,
    },
    responses: responses({
      200: {
        description: "One page",
        schema: z.strictObject({ approvals: z.array(schema.approvalSchema), nextCursor: z.string().optional() }),
      },
    }),
    handle: async (c, { query }) => {
      const by = signedInOf(c);
      checkMay(by, "read");
      return c.json(await approvalPage(context, by.tenant, query));
    },
  });

  addRoute(app, {
    method: "post",
    path: "/v1/approvals/{id}:decide",
    summary: "Answer a question",
    params: { id: z.string() },
    headers: { prefer: schema.preferHeader },
    body: schema.decideBody,
    responses: responses(
      {
        200: { description: "The answer is recorded", schema: schema.decidedSchema },
        202: { description: "The yes is kept; further people are needed", schema: schema.decidedSchema },
      },
      [404, 409, 410, 412],
    ),
    handle: async (c, { params, body, headers }) => {
      const waitMs = waitOf(c, headers.prefer);
      const decided = await context.operations.decide(signedInOf(c), {
        approvalId: params.id,
        answer: body.answer,
        argsHash: body.argsHash,
        ...(body.reason === undefined ? {} : { reason: body.reason }),
        ...(headers.prefer === undefined ? {} : { waitMs }),
      });
      const answer = decidedView(decided);
      return c.json(answer, answer.status === "collected" ? 202 : 200);
    },
  });
}

interface ApprovalsQuery {
  readonly status?: ApprovalRow["status"] | undefined;
  readonly runId?: string | undefined;
  readonly limit: number;
  readonly cursor?: string | undefined;
}

async function approvalPage(
  { store }: RouteContext,
  tenant: string,
  { status, runId, limit, cursor }: ApprovalsQuery,
): Promise<Record<string, unknown>> {
  const after = cursor === undefined ? undefined : decodeCursor(cursor);
  const rows = await store.approvals({
    tenant,
    limit: limit + 1,
    ...(status === undefined ? {} : { status }),
    ...(runId === undefined ? {} : { runId }),
    ...(after === undefined ? {} : { after: { requestedAt: after.at, approvalId: after.id } }),
  });
  const page = rows.slice(0, limit);
  const last = rows.length > limit ? page.at(-1) : undefined;
  return {
    approvals: page.map(approvalView),
    ...(last === undefined ? {} : { nextCursor: encodeCursor({ at: last.requestedAt, id: last.approvalId }) }),
  };
}

interface DecidedView {
  readonly status: "approved" | "rejected" | "collected";
  readonly [member: string]: unknown;
}

/** What to answer, or the problem to throw: everything that changed nothing is one. */
function decidedView(decided: Decided): DecidedView {
  switch (decided.status) {
    case "recorded": {
      const { approval, isLookedAt } = decided;
      const status = approval.status === "rejected" ? "rejected" : "approved";
      return { status, approval: approvalView(approval), isLookedAt };
    }
    case "collected": {
      const { needed, given } = decided.quorum;
      return { status: "collected", approval: approvalView(decided.approval), isLookedAt: false, needed, given };
    }
    case "unknown":
      throw problem("BELAY_APPROVAL_UNKNOWN", "there is no such question here; see GET /v1/approvals");
    case "not_permitted":
      throw problem("BELAY_NOT_PERMITTED", decided.reason);
    case "already_decided":
      throw problem(
        "BELAY_APPROVAL_DECIDED",
        `the question is already ${decided.approval.status}; the first answer stands and nothing was changed`,
        decided.approval,
      );
    case "expired":
      throw problem("BELAY_APPROVAL_EXPIRED", "nobody answered in time; nothing was done", decided.approval);
    case "digest_mismatch":
      throw problem(
        "BELAY_APPROVAL_DIGEST",
        "the arguments are not those that were shown; nothing was decided, read the question again",
        decided.approval,
      );
    case "world_changed":
      throw problem(
        "BELAY_WORLD_CHANGED",
        `the answer is recorded, and the rules said no when they looked again: ${decided.code}: ${decided.reason}`,
        decided.approval,
        { worldCode: decided.code },
      );
  }
}

function problem(
  code: BelayErrorCode,
  message: string,
  approval?: ApprovalRow,
  more: Readonly<Record<string, unknown>> = {},
): HttpProblem {
  return new HttpProblem(code, message, {
    members: { ...(approval === undefined ? {} : { approval: approvalView(approval) }), ...more },
  });
}
