import type { OpenAPIHono } from "@hono/zod-openapi";
import type { ServerEnv } from "../http/env.ts";

const DESCRIPTION = [
  "Runs, approvals and the audit log of Belay. Nothing that a client sends can approve a call but",
  "`POST /v1/approvals/{id}:decide` by a person who may. Problems are RFC 9457 with a stable `code`.",
].join(" ");

/** Serves the description of the routes, made from the schemas that validate them. */
export function addOpenApi(app: OpenAPIHono<ServerEnv>, sessionCookie: string): void {
  app.openAPIRegistry.registerComponent("securitySchemes", "token", { type: "http", scheme: "bearer" });
  app.openAPIRegistry.registerComponent("securitySchemes", "session", {
    type: "apiKey",
    in: "cookie",
    name: sessionCookie,
    description: "Requests that change something also carry the header x-belay-csrf.",
  });
  let text: string | undefined;
  app.get("/openapi.json", (c) => {
    text ??= JSON.stringify(
      app.getOpenAPI31Document({
        openapi: "3.1.0",
        info: { title: "Belay", version: "1", description: DESCRIPTION, license: { name: "MIT" } },
      }),
    );
    return c.body(text, 200, { "content-type": "application/json", "cache-control": "public, max-age=300" });
  });
}
