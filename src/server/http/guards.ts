import type { BlockList } from "node:net";
import type { MiddlewareHandler } from "hono";
import { BelayError } from "../../errors.ts";
import type { PeopleStore } from "../people/people-store.ts";
import { formToken, isSameText } from "../people/secret.ts";
import { clientAddress } from "./client-address.ts";
import type { ServerContext, ServerEnv } from "./env.ts";
import { HttpProblem } from "./problem.ts";
import type { RateLimiter } from "./rate-limit.ts";
import { type BodyLimits, readBody, readIncoming } from "./request-body.ts";
import { CSRF_HEADER, isFromOwnPages, readSession } from "./session-cookie.ts";

type Guard = MiddlewareHandler<ServerEnv>;

const SAFE_METHODS: ReadonlySet<string> = new Set(["GET", "HEAD", "OPTIONS"]);
const LOOPBACK_NAMES = ["127.0.0.1", "localhost", "[::1]"];

/** Learns where a request came from. */
export function addressGuard(trusted: BlockList): Guard {
  return async (context, next) => {
    const { address, isSecure } = clientAddress(context, trusted);
    context.set("address", address);
    context.set("isSecure", isSecure);
    await next();
  };
}

/** Refuses a request for a name that is not this server's: a page of another site whose name points here. */
export function hostGuard(hosts: readonly string[] | undefined): Guard {
  const known =
    hosts === undefined ? undefined : new Set([...LOOPBACK_NAMES, ...hosts.map((host) => host.toLowerCase())]);
  return async (context, next) => {
    const host = (context.req.header("host") ?? new URL(context.req.url).host).toLowerCase().replace(/:\d+$/, "");
    if (known !== undefined && !known.has(host)) {
      throw new BelayError("BELAY_HOST_UNKNOWN", "this server does not answer for that host name");
    }
    await next();
  };
}

export function addressLimitGuard(limiter: RateLimiter): Guard {
  return async (context, next) => {
    limiter.take(context.get("address"));
    await next();
  };
}

/** Learns who sent a request. Wrong tokens are counted against the address that tries them. */
export function signedInGuard(people: PeopleStore, failures: RateLimiter, sessions: RateLimiter): Guard {
  return async (context, next) => {
    const authorization = context.req.header("authorization");
    const session = authorization === undefined ? readSession(context) : undefined;
    if (authorization !== undefined) {
      takeToken(context, people, failures, authorization);
    } else if (session !== undefined) {
      const signedIn = people.known("session", session);
      if (signedIn !== undefined) {
        context.set("signedIn", signedIn);
        context.set("session", session);
      }
    }
    const signedIn = context.get("signedIn");
    if (signedIn !== undefined) sessions.take(`${signedIn.tenant}:${signedIn.person.id}:${session ?? "token"}`);
    await next();
  };
}

function takeToken(context: ServerContext, people: PeopleStore, failures: RateLimiter, authorization: string): void {
  const [, token = ""] = /^bearer +(\S+)$/i.exec(authorization) ?? [];
  const signedIn = people.known("token", token);
  if (signedIn === undefined) {
    failures.take(context.get("address"));
    throw notSignedIn("the token is not valid any more or never was");
  }
  context.set("signedIn", signedIn);
}

/** Nothing of the API is for strangers. */
export function requireSignedIn(): Guard {
  return async (context, next) => {
    if (context.get("signedIn") === undefined) throw notSignedIn("send a token, or sign in with a link");
    await next();
  };
}

function notSignedIn(message: string): HttpProblem {
  return new HttpProblem("BELAY_NOT_SIGNED_IN", message, { headers: { "www-authenticate": 'Bearer realm="belay"' } });
}

/** Reads the body once, within its limits, before anything looks at it. */
export function bodyGuard(limits: BodyLimits): Guard {
  return async (context, next) => {
    if (!SAFE_METHODS.has(context.req.method)) await takeBody(context, limits);
    await next();
  };
}

async function takeBody(context: ServerContext, limits: BodyLimits): Promise<void> {
  const { req } = context;
  // A request that was made without a socket, as tests do, has no bindings at all.
  const env: ServerContext["env"] | undefined = context.env;
  const incoming = env?.incoming;
  const body = incoming === undefined ? await readBody(req.raw, limits) : await readIncoming(incoming, limits);
  if (incoming !== undefined && req.header("content-type")?.startsWith("application/json") === true) {
    // All that a route of the API asks for.
    Object.assign(req.bodyCache, { text: Promise.resolve(new TextDecoder().decode(body)) });
    return;
  }
  const { url, method, headers, signal } = req.raw;
  req.raw = new Request(url, { method, headers, signal, ...(body.byteLength === 0 ? {} : { body }) });
}

/**
 * Refuses what another site makes a browser send.
 *
 * A browser sends the cookie by itself, so a request that changes something must come from our pages and carry the
 * token, which no other site can read. Forms carry it in a field, which the pages check.
 */
export function csrfGuard(needsHeader: boolean): Guard {
  return async (context, next) => {
    const session = context.get("session");
    if (SAFE_METHODS.has(context.req.method) || context.req.header("authorization") !== undefined) return next();
    const token = context.req.header(CSRF_HEADER) ?? "";
    const hasToken = session === undefined || !needsHeader || isSameText(token, formToken(session));
    if (!isFromOwnPages(context) || !hasToken) {
      throw new BelayError(
        "BELAY_CSRF",
        `the request did not come from a page of this server, or lacks ${CSRF_HEADER}`,
      );
    }
    return next();
  };
}
