import type { OpenAPIHono, RouteConfig } from "@hono/zod-openapi";
import { z } from "@hono/zod-openapi";
import { parseStrictJson } from "../../core/index.ts";
import type { ServerContext, ServerEnv } from "../http/env.ts";
import { HttpProblem } from "../http/problem.ts";

type Shape = Readonly<Record<string, z.ZodType>>;

/** One route: what validates a request is what describes it. `path` is written as in OpenAPI. */
export interface Route<Params extends Shape, Query extends Shape, Headers extends Shape, Body extends z.ZodType> {
  readonly method: "get" | "post";
  readonly path: string;
  readonly summary: string;
  readonly params?: Params;
  readonly query?: Query;
  /** By their names in small letters. */
  readonly headers?: Headers;
  readonly body?: Body;
  readonly responses: RouteConfig["responses"];
  /** Open to everybody; all others need somebody who is signed in. */
  readonly isPublic?: boolean;
  readonly handle: (context: ServerContext, input: Input<Params, Query, Headers, Body>) => Promise<Response>;
}

interface Input<Params extends Shape, Query extends Shape, Headers extends Shape, Body extends z.ZodType> {
  readonly params: Values<Params>;
  readonly query: Values<Query>;
  readonly headers: Values<Headers>;
  readonly body: z.output<Body>;
}

type Values<S extends Shape> = { readonly [Key in keyof S]: z.output<S[Key]> };

/** Adds a route to an app and to its description. */
export function addRoute<
  Params extends Shape = Record<never, never>,
  Query extends Shape = Record<never, never>,
  Headers extends Shape = Record<never, never>,
  Body extends z.ZodType = z.ZodUndefined,
>(app: OpenAPIHono<ServerEnv>, route: Route<Params, Query, Headers, Body>): void {
  const { method, path, params, query, headers, body } = route;
  const request = {
    ...(params === undefined ? {} : { params: z.strictObject(params) }),
    ...(query === undefined ? {} : { query: z.strictObject(query) }),
    ...(headers === undefined ? {} : { headers: z.object(headers) }),
    ...(body === undefined ? {} : { body: { required: true, content: { "application/json": { schema: body } } } }),
  };
  app.openAPIRegistry.registerPath({
    method,
    path,
    summary: route.summary,
    security: route.isPublic === true ? [] : [{ token: [] }, { session: [] }],
    request,
    responses: route.responses,
  });
  const { pattern, suffix } = patternOf(path);
  // Made once: making a schema costs more than using it.
  const [ofPath, ofQuery, ofHeaders] = [
    z.strictObject(params ?? {}),
    z.strictObject(query ?? {}),
    z.object(headers ?? {}),
  ];
  app.on(method.toUpperCase(), pattern, async (context) => {
    const given = paramsOf(context, suffix);
    const input = {
      params: parsed("path", ofPath, given),
      query: parsed("query", ofQuery, queryOf(context)),
      headers: parsed("header", ofHeaders, context.req.header()),
      body: body === undefined ? undefined : parsed("body", body, await jsonBody(context)),
    };
    return route.handle(context, input as unknown as Input<Params, Query, Headers, Body>);
  });
}

/** Hono has no parameter that is followed by text, as in `/runs/{id}:cancel`; the text becomes part of it. */
function patternOf(path: string): { readonly pattern: string; readonly suffix: string } {
  const suffix = /\}(:[a-z]+)$/.exec(path)?.[1] ?? "";
  const plain = path.slice(0, path.length - suffix.length);
  const pattern = plain.replaceAll(/\{(\w+)\}/g, ":$1");
  return { pattern: suffix === "" ? pattern : `${pattern}{[^/]+${suffix}}`, suffix };
}

function paramsOf(context: ServerContext, suffix: string): Readonly<Record<string, string>> {
  const params: Readonly<Record<string, string>> = context.req.param();
  if (suffix === "") return params;
  return Object.fromEntries(
    Object.entries(params).map(([name, value]) => [
      name,
      value.endsWith(suffix) ? value.slice(0, -suffix.length) : value,
    ]),
  );
}

/** A parameter given twice is refused: which of the two counts would be a guess. */
function queryOf(context: ServerContext): Readonly<Record<string, unknown>> {
  return Object.fromEntries(
    Object.entries(context.req.queries()).map(([name, values]) => [name, values.length === 1 ? values[0] : values]),
  );
}

async function jsonBody(context: ServerContext): Promise<unknown> {
  const type = (context.req.header("content-type") ?? "").split(";")[0]?.trim().toLowerCase();
  if (type !== "application/json") {
    throw invalid("body", [{ path: "", message: "send Content-Type: application/json" }]);
  }
  const result = parseStrictJson(await context.req.text());
  if (result.ok) return result.value;
  // A key given twice or a number beyond exactness is refused: two readers would see two requests.
  throw invalid("body", [{ path: result.path, message: result.message }]);
}

function parsed<Value>(place: string, schema: z.ZodType<Value>, value: unknown): Value {
  const result = schema.safeParse(value);
  if (result.success) return result.data;
  throw invalid(
    place,
    result.error.issues.map(({ path, message }) => ({
      path: path.map(String).join("."),
      message: message.slice(0, 300),
    })),
  );
}

function invalid(place: string, problems: readonly { readonly path: string; readonly message: string }[]): HttpProblem {
  const [first] = problems;
  const where = first === undefined || first.path === "" ? place : `${place} ${first.path}`;
  return new HttpProblem("BELAY_REQUEST_INVALID", `${where}: ${first?.message ?? "not valid"}`, {
    members: { errors: problems.slice(0, 20).map((problem) => ({ in: place, ...problem })) },
  });
}

/** Methods that the described routes take at a path; empty for a path that none has. */
export function allowedMethods(app: OpenAPIHono<ServerEnv>, path: string): readonly string[] {
  const methods = new Set<string>();
  for (const definition of app.openAPIRegistry.definitions) {
    if (definition.type !== "route") continue;
    const pattern = definition.route.path.replaceAll(/\{\w+\}/g, "[^/]+");
    if (new RegExp(`^${pattern}$`).test(path)) methods.add(definition.route.method.toUpperCase());
  }
  return [...methods];
}
