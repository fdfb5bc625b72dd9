import type { RouteConfig, z } from "@hono/zod-openapi";
import type { ProblemStatus } from "../http/status-of.ts";
import { problemSchema } from "./schemas.ts";

const DESCRIPTIONS: Readonly<Record<ProblemStatus, string>> = {
  400: "The request does not fit this description",
  401: "No valid token or session",
  403: "Not permitted, or one's own request",
  404: "Not found",
  405: "The address does not take this method",
  408: "The body did not arrive in time",
  409: "It conflicts with what is stored",
  410: "It has expired",
  412: "The arguments are not those that were shown, or the world has changed",
  413: "The body is too large",
  421: "Not a host of this server",
  429: "Too many requests; see Retry-After",
  500: "Internal error",
  503: "Not available now",
};

const ALWAYS: readonly ProblemStatus[] = [400, 401, 403, 413, 429, 500, 503];

/** The answers of a route: what it gives, and the problems that every route can give beside its own. */
export function responses(
  good: Readonly<Record<number, { readonly description: string; readonly schema?: z.ZodType; readonly type?: string }>>,
  problems: readonly ProblemStatus[] = [],
): RouteConfig["responses"] {
  const goodOnes = Object.entries(good).map(([status, { description, schema, type = "application/json" }]) => [
    status,
    { description, ...(schema === undefined ? {} : { content: { [type]: { schema } } }) },
  ]);
  const badOnes = [...new Set([...ALWAYS, ...problems])].map((status) => [
    String(status),
    { description: DESCRIPTIONS[status], content: { "application/problem+json": { schema: problemSchema } } },
  ]);
  return Object.fromEntries([...goodOnes, ...badOnes]) as RouteConfig["responses"];
}
