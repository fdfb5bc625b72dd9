import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { fold } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { RunKey } from "../../journal/index.ts";
import type { ServerEnv } from "../http/env.ts";
import { checkMay } from "../operations/permission.ts";
import { visibleRun } from "../operations/run-access.ts";
import { type RouteContext, signedInOf } from "./context.ts";
import { decodeCursor, encodeCursor } from "./cursor.ts";
import { addRoute } from "./define-route.ts";
import { waitOf } from "./prefer.ts";
import { responses } from "./responses.ts";
import { runSummary, runView } from "./run-view.ts";
import * as schema from "./schemas.ts";

/** Starting, listing, reading, cancelling and going on with runs. */
export function addRunRoutes(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  addRoute(app, {
    method: "post",
    path: "/v1/runs",
    summary: "Start a run",
    headers: { "idempotency-key": schema.idempotencyHeader, prefer: schema.preferHeader },
    body: schema.startRunBody,
    responses: responses(
      {
        200: {
          description: "The run ended or waits for people within the time of `Prefer: wait`",
          schema: schema.runSchema,
        },
        202: { description: "Accepted; `Location` is the run", schema: schema.startedSchema },
      },
      [404, 409],
    ),
    handle: async (c, { body, headers }) => {
      const by = signedInOf(c);
      const key = headers["idempotency-key"];
      const { customer, conversationId, offeredTools, ...wish } = body;
      const started = await context.operations.startRun(by, {
        ...wish,
        ...(customer === undefined ? {} : { customer }),
        ...(conversationId === undefined ? {} : { conversationId }),
        ...(offeredTools === undefined ? {} : { offeredTools }),
        ...(key === undefined ? {} : { idempotencyKey: key }),
      });
      c.header("location", `/v1/runs/${started.run.runId}`);
      const waitMs = waitOf(c, headers.prefer);
      if (waitMs > 0) {
        const settled = await settledRun(context, started.run, waitMs);
        if (settled !== undefined) return c.json(settled, 200);
      }
      const { runId } = started.run;
      const status = started.isReplay ? "replayed" : "accepted";
      return c.json({ runId, conversationId: started.conversationId, status }, 202);
    },
  });

  addRunReads(app, context);
  addRunActions(app, context);
}

function addRunReads(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  addRoute(app, {
    method: "get",
    path: "/v1/runs",
    summary: "List runs, newest first",
    query: {
      status: z.enum(["running", "waiting", "done", "failed"]).optional(),
      agent: z.string().max(128).optional(),
      inDoubt: z
        .literal("true")
        .optional()
        .openapi({ description: "only runs with a call whose outcome nobody knows" }),
      limit: schema.limitQuery,
      cursor: schema.cursorQuery,
    },
    responses: responses({
      200: {
        description: "One page",
        schema: z.strictObject({ runs: z.array(schema.runSummarySchema), nextCursor: z.string().optional() }),
      },
    }),
    handle: async (c, { query }) => {
      const by = signedInOf(c);
      checkMay(by, "read");
      const cursor = query.cursor === undefined ? undefined : decodeCursor(query.cursor);
      const rows = await context.store.runs({
        tenant: by.tenant,
        limit: query.limit + 1,
        ...(query.status === undefined ? {} : { status: query.status }),
        ...(query.agent === undefined ? {} : { agent: query.agent }),
        ...(query.inDoubt === undefined ? {} : { inDoubt: true }),
        ...(cursor === undefined ? {} : { before: cursor.at, beforeRunId: cursor.id }),
      });
      const page = rows.slice(0, query.limit);
      const last = rows.length > query.limit ? page.at(-1) : undefined;
      return c.json({
        runs: page.map((row) => runSummary(context, row)),
        ...(last === undefined ? {} : { nextCursor: encodeCursor({ at: last.startedAt, id: last.runId }) }),
      });
    },
  });

  addRoute(app, {
    method: "get",
    path: "/v1/runs/{id}",
    summary: "Read one run",
    params: { id: z.string() },
    responses: responses({ 200: { description: "The run", schema: schema.runSchema } }, [404]),
    handle: async (c, { params }) => {
      const row = await visibleRun(context, signedInOf(c), params.id);
      return c.json((await viewOf(context, row)) ?? {});
    },
  });
}

function addRunActions(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  addRoute(app, {
    method: "post",
    path: "/v1/runs/{id}:cancel",
    summary: "Cancel a run",
    params: { id: z.string() },
    body: schema.cancelBody,
    responses: responses(
      { 202: { description: "The run will end; calls that are running are waited for", schema: CANCELLED } },
      [404, 409],
    ),
    handle: async (c, { params, body }) => {
      const outcome = await context.operations.cancel(signedInOf(c), params.id, body.reason);
      if (outcome === "already_ended") {
        throw new BelayError("BELAY_RUN_ENDED", "the run has ended or is ending; there is nothing to cancel");
      }
      return c.json({ status: "cancelling" }, 202);
    },
  });

  addRoute(app, {
    method: "post",
    path: "/v1/runs/{id}/messages",
    summary: "Send a message to the conversation of a run; it never answers an approval",
    params: { id: z.string() },
    headers: { "idempotency-key": schema.idempotencyHeader },
    body: schema.messageBody,
    responses: responses(
      { 202: { description: "Taken; `Location` is its run", schema: schema.sentSchema } },
      [404, 409],
    ),
    handle: async (c, { params, headers, body }) => {
      const key = headers["idempotency-key"];
      const sent = await context.operations.sendMessage(signedInOf(c), {
        runId: params.id,
        text: body.text,
        ...(key === undefined ? {} : { idempotencyKey: key }),
      });
      c.header("location", `/v1/runs/${sent.run.runId}`);
      const behind = sent.behind === undefined ? {} : { behind: sent.behind.runId };
      return c.json({ runId: sent.run.runId, status: sent.status, ...behind }, 202);
    },
  });
}

const CANCELLED = z.strictObject({ status: z.literal("cancelling") }).openapi("Cancelled", {
  example: { status: "cancelling" },
});

async function viewOf(context: RouteContext, run: RunKey): Promise<Record<string, unknown> | undefined> {
  const { tenant, runId } = run;
  const [row, state, approvals] = await Promise.all([
    context.store.run({ tenant, runId }),
    context.store.read({ tenant, runId }).then((entries) => fold(entries)),
    context.store.approvals({ tenant, runId, status: "pending" }),
  ]);
  return row === undefined || state === undefined ? undefined : runView(context, row, state, approvals);
}

/** The run once it has ended or waits for people; undefined when that takes longer. */
function settledRun(context: RouteContext, run: RunKey, waitMs: number): Promise<Record<string, unknown> | undefined> {
  return context.live.when(run, waitMs, async () => {
    // The index is asked first, because it costs least.
    const row = await context.store.run(run);
    if (row?.status === "running") return undefined;
    const view = await viewOf(context, run);
    // A question may be open while other calls of the turn still run.
    return row?.termination !== undefined || view?.["phase"] === "AWAIT_APPROVAL" ? view : undefined;
  });
}
