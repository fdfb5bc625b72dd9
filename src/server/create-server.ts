import { OpenAPIHono } from "@hono/zod-openapi";
import type { Hono } from "hono";
import { checkApprovalRules } from "../approval/index.ts";
import type { NoteSigner } from "../audit/index.ts";
import type { ApprovalRule } from "../config.ts";
import { BelayError } from "../errors.ts";
import type { ServerDeps } from "./deps.ts";
import { addressList } from "./http/client-address.ts";
import type { ServerContext, ServerEnv } from "./http/env.ts";
import {
  addressGuard,
  addressLimitGuard,
  bodyGuard,
  csrfGuard,
  hostGuard,
  requireSignedIn,
  signedInGuard,
} from "./http/guards.ts";
import { HttpProblem, problemResponse, type ToldProblem, toldProblem, wantsPage } from "./http/problem.ts";
import { createRateLimiter } from "./http/rate-limit.ts";
import { type RequestLogEntry, requestLog } from "./http/request-log.ts";
import { securityHeaders } from "./http/security-headers.ts";
import { SESSION_COOKIE } from "./http/session-cookie.ts";
import { createLiveRuns, type LiveRuns } from "./live/live-runs.ts";
import { loadProblemPage } from "./load-pages.ts";
import type { OperationContext } from "./operations/context.ts";
import { createOperations } from "./operations/create-operations.ts";
import type { PagesSession } from "./pages/session.ts";
import { createPagesSession } from "./pages-session.ts";
import type { PeopleStore } from "./people/people-store.ts";
import type { ServerDatabase } from "./people/server-database.ts";
import { createVotes } from "./people/votes.ts";
import { addApprovalRoutes } from "./routes/approval-routes.ts";
import { addAuditRoutes } from "./routes/audit-routes.ts";
import { addCallRoutes } from "./routes/call-routes.ts";
import type { RouteContext } from "./routes/context.ts";
import { allowedMethods } from "./routes/define-route.ts";
import { addEventRoutes } from "./routes/event-routes.ts";
import { addHealthRoutes } from "./routes/health-routes.ts";
import { addOpenApi } from "./routes/openapi.ts";
import { addRunRoutes } from "./routes/run-routes.ts";
import { DEFAULT_SERVER_LIMITS, type ServerLimits } from "./settings.ts";

export interface ServerOptions extends ServerDeps {
  readonly people: PeopleStore;
  /** The server's own tables, in which `people` lives too. */
  readonly database: ServerDatabase;
  /** Who answers which questions; see `approvals` of the configuration. */
  readonly approvals?: readonly ApprovalRule[];
  /** Shared by all that follows runs; close it to end open streams. Default one of its own. */
  readonly live?: LiveRuns;
  /** Signs the checkpoints that are given out. */
  readonly signer?: NoteSigner;
  readonly limits?: Partial<ServerLimits>;
  /** Addresses and ranges of proxies whose `X-Forwarded-*` headers are believed. Default none. */
  readonly trustedProxies?: readonly string[];
  /** Names that requests may be for, beside those of this machine; absent: any. */
  readonly hosts?: readonly string[];
  readonly onRequest?: (entry: RequestLogEntry) => void;
  /** Told of every error that a client only sees as 500; its text may hold anything and belongs in no shared log. */
  readonly onError?: (error: unknown, requestId: string) => void;
  readonly isReady?: () => boolean;
  /** The console, mounted at `/` behind the same layers. */
  readonly pages?: (deps: ServerDeps, session: PagesSession) => Hono;
}

/**
 * Builds the HTTP API over a store and the harnesses of its apps, and the pages when they are given.
 *
 * It drives no run and listens nowhere: `harness.work()` and `listen()` do. Throws `BELAY_SERVER_SETTINGS` for approval
 * rules or proxies that cannot be used.
 */
export function createServer(options: ServerOptions): Hono<ServerEnv> {
  const limits = { ...DEFAULT_SERVER_LIMITS, ...options.limits };
  checkApprovalRules(options.approvals ?? []);
  const context = routeContext(options, limits);
  const failures = createRateLimiter(limits.failures, options.clock);
  const app = new OpenAPIHono<ServerEnv>();
  const answer = (c: ServerContext, error: unknown): Response | Promise<Response> => {
    const told = toldProblem(error);
    if (told.status === 500) options.onError?.(error, c.get("requestId"));
    return options.pages !== undefined && wantsPage(c) ? pageOf(c, told) : problemResponse(c, told);
  };
  app.onError((error, c) => answer(c, error));
  app.notFound((c) => answer(c, notFound(app, c.req.path)));
  app.use(requestLog(options.onRequest));
  app.use(addressGuard(addressList(options.trustedProxies ?? [], "trustedProxies")));
  app.use(securityHeaders());
  app.use(hostGuard(options.hosts));
  addHealthRoutes(app, context);
  app.use(addressLimitGuard(createRateLimiter(limits.perAddress, options.clock)));
  app.use(signedInGuard(options.people, failures, createRateLimiter(limits.perSession, options.clock)));
  app.use(bodyGuard({ bytesMax: limits.bodyBytesMax, timeoutMs: limits.bodyTimeoutMs }));
  addOpenApi(app, SESSION_COOKIE);
  app.use("/v1/*", requireSignedIn(), csrfGuard(true));
  addRunRoutes(app, context);
  addEventRoutes(app, context);
  addApprovalRoutes(app, context);
  addCallRoutes(app, context);
  addAuditRoutes(app, context);
  if (options.pages !== undefined) {
    app.use(csrfGuard(false));
    const onError = options.onError ?? (() => undefined);
    app.route("/", options.pages(options, createPagesSession(context, failures, onError)));
  }
  return app;
}

function routeContext(options: ServerOptions, limits: ServerLimits): RouteContext {
  const { store, apps, clock, people, database, signer, resultsFolder } = options;
  const base: OperationContext = {
    store,
    apps,
    clock,
    people,
    votes: createVotes(database),
    rules: options.approvals ?? [],
    live: options.live ?? createLiveRuns(store),
    messagesMax: limits.messagesMax,
    ...(resultsFolder === undefined ? {} : { resultsFolder }),
  };
  return {
    ...base,
    operations: createOperations(base),
    heartbeatMs: limits.heartbeatMs,
    isReady: options.isReady ?? (() => true),
    ...(signer === undefined ? {} : { signer }),
  };
}

/** A problem for a person who uses a browser. */
async function pageOf(c: ServerContext, { status, code, detail, headers }: ToldProblem): Promise<Response> {
  for (const [name, value] of Object.entries(headers)) c.header(name, value);
  const seconds = Number(headers["retry-after"]);
  const retry = Number.isFinite(seconds) ? { retryAfterS: seconds } : {};
  return (await loadProblemPage())(c, { status, code, detail, ...retry });
}

function notFound(app: OpenAPIHono<ServerEnv>, path: string): BelayError {
  const methods = allowedMethods(app, path);
  if (methods.length === 0) return new BelayError("BELAY_ROUTE_UNKNOWN", "there is no such address; see /openapi.json");
  const allow = methods.join(", ");
  return new HttpProblem("BELAY_METHOD_UNKNOWN", `this address takes ${allow}`, { headers: { allow } });
}
