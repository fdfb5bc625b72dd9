import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import type { SignedIn } from "../deps.ts";
import type { ServerContext, ServerEnv } from "../http/env.ts";
import { HttpProblem } from "../http/problem.ts";
import { eventStream } from "../live/event-stream.ts";
import { visibleRun } from "../operations/run-access.ts";
import { type RouteContext, signedInOf } from "./context.ts";
import { addRoute } from "./define-route.ts";
import { responses } from "./responses.ts";

/** Streams that one person may hold open at once. */
const STREAMS_MAX = 2000;

/** The events of a run as a stream that can be taken up again where it broke. */
export function addEventRoutes(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  const open = new Map<string, number>();
  addRoute(app, {
    method: "get",
    path: "/v1/runs/{id}/events",
    summary: "Follow the events of a run (SSE); ends after the run",
    params: { id: z.string() },
    query: {
      after: z.coerce.number().int().min(0).optional().openapi({ description: "sequence of the last event seen" }),
    },
    headers: {
      "last-event-id": z
        .string()
        .regex(/^\d{0,15}$/)
        .optional(),
    },
    responses: responses(
      {
        200: {
          description:
            "id: sequence; event: type; data: {seq, at, schema, event}. While a model writes also, without an id and " +
            "recorded nowhere: event: delta; data: {at, text}, a piece of the reply and where in it the piece begins",
          type: "text/event-stream",
          schema: z.string(),
        },
      },
      [404],
    ),
    handle: async (c, { params, query, headers }) => {
      const by = signedInOf(c);
      const { tenant, runId } = await visibleRun(context, by, params.id);
      // A browser that reconnects says where it was; that is later than the address it was opened with.
      const after = Number(headers["last-event-id"] || (query.after ?? 0));
      const release = hold(open, `${tenant}:${by.person.id}`);
      const { signal } = c.req.raw;
      signal.addEventListener("abort", release, { once: true });
      const { store, live, heartbeatMs } = context;
      const stream = eventStream({
        store,
        live,
        run: { tenant, runId },
        after,
        heartbeatMs,
        signal,
        isAllowed: () => isStillSignedIn(context, c, by),
        onEnd: release,
      });
      return c.body(stream, 200, {
        "content-type": "text/event-stream; charset=utf-8",
        "cache-control": "no-store",
        // Proxies must not collect events.
        "x-accel-buffering": "no",
      });
    },
  });
}

function hold(open: Map<string, number>, key: string): () => void {
  const count = (open.get(key) ?? 0) + 1;
  if (count > STREAMS_MAX) {
    throw new HttpProblem("BELAY_RATE_LIMITED", `${STREAMS_MAX} streams are open already; close some`, {
      headers: { "retry-after": "10" },
    });
  }
  open.set(key, count);
  let isHeld = true;
  return () => {
    if (!isHeld) return;
    isHeld = false;
    const left = (open.get(key) ?? 1) - 1;
    if (left === 0) open.delete(key);
    else open.set(key, left);
  };
}

/** A session that ended and a person who was revoked hear nothing more. */
function isStillSignedIn({ people }: RouteContext, c: ServerContext, by: SignedIn): boolean {
  const session = c.get("session");
  return session === undefined
    ? people.find(by.tenant, by.person.id) !== undefined
    : people.known("session", session) !== undefined;
}
