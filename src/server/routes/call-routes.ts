import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { ServerEnv } from "../http/env.ts";
import { type RouteContext, signedInOf } from "./context.ts";
import { addRoute } from "./define-route.ts";
import { responses } from "./responses.ts";
import * as schema from "./schemas.ts";

/** What people say about calls. */
export function addCallRoutes(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  addRoute(app, {
    method: "post",
    path: "/v1/calls/{id}:reconcile",
    summary: "Say what became of a call whose outcome nobody knows; the first word stands",
    params: { id: z.string().max(128) },
    body: schema.reconcileBody,
    responses: responses({ 200: { description: "Recorded", schema: schema.reconciledSchema } }, [404, 409]),
    handle: async (c, { params, body }) => {
      const { run, callId, outcome } = await context.operations.reconcile(signedInOf(c), {
        ...{ runId: body.runId, callId: params.id, outcome: body.outcome, note: body.note },
        ...(body.value === undefined ? {} : { value: body.value }),
      });
      return c.json({ runId: run.runId, callId, outcome, status: "recorded" });
    },
  });
}
