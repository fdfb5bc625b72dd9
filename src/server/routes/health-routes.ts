import type { OpenAPIHono } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { BelayError } from "../../errors.ts";
import type { ServerEnv } from "../http/env.ts";
import type { RouteContext } from "./context.ts";
import { addRoute } from "./define-route.ts";
import { responses } from "./responses.ts";

const OK = z.strictObject({ status: z.literal("ok") }).openapi("Health", { example: { status: "ok" } });

/** What whoever runs the process asks: is it alive, and can it take requests. */
export function addHealthRoutes(app: OpenAPIHono<ServerEnv>, context: RouteContext): void {
  addRoute(app, {
    method: "get",
    path: "/healthz",
    summary: "The process is alive",
    isPublic: true,
    responses: responses({ 200: { description: "Alive", schema: OK } }),
    handle: async (c) => c.json({ status: "ok" }),
  });
  addRoute(app, {
    method: "get",
    path: "/readyz",
    summary: "The store answers and the server is not stopping",
    isPublic: true,
    responses: responses({ 200: { description: "Ready", schema: OK } }),
    handle: async (c) => {
      if (!context.isReady()) throw new BelayError("BELAY_NOT_READY", "the server is stopping");
      await context.store.audit.size();
      return c.json({ status: "ok" });
    },
  });
}
