import { randomUUID } from "node:crypto";
import type { MiddlewareHandler } from "hono";
import type { ServerEnv } from "./env.ts";

/** One answered request. It holds no query, body, header or cookie: those may carry secrets. */
export interface RequestLogEntry {
  readonly at: number;
  readonly requestId: string;
  readonly method: string;
  readonly path: string;
  readonly status: number;
  readonly durationMs: number;
  readonly address: string;
  readonly person?: string;
  /** Name of an exception that became a 500; its text may hold anything and stays out. */
  readonly error?: string;
}

const PATH_CHARACTERS_MAX = 200;

/** Gives each request an id, which the answer carries too, and tells `onRequest` about it. */
export function requestLog(onRequest: ((entry: RequestLogEntry) => void) | undefined): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    const requestId = randomUUID();
    context.set("requestId", requestId);
    const start = performance.now();
    await next();
    context.res.headers.set("x-request-id", requestId);
    if (onRequest === undefined) {
      return;
    }
    const signedIn = context.get("signedIn");
    onRequest({
      at: Date.now(),
      requestId,
      method: context.req.method,
      path: context.req.path.slice(0, PATH_CHARACTERS_MAX),
      status: context.res.status,
      durationMs: Math.round(performance.now() - start),
      address: context.get("address") ?? "",
      ...(signedIn === undefined ? {} : { person: signedIn.person.id }),
      ...(context.error === undefined || context.res.status !== 500 ? {} : { error: context.error.name }),
    });
  };
}
