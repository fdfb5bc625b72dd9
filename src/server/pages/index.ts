import { Hono } from "hono";
import type { ServerDeps } from "../deps.ts";
import { approvalRoutes } from "./approvals/routes.tsx";
import { assetRoutes } from "./assets/index.ts";
import { auditRoutes } from "./audit/routes.tsx";
import { chatRoutes } from "./chat/routes.tsx";
import { evaluationRoutes } from "./evaluations/routes.tsx";
import { overviewRoutes } from "./overview/routes.tsx";
import { runRoutes } from "./runs/routes.tsx";
import type { PagesSession } from "./session.ts";
import { pageHeaders } from "./shell/headers.ts";
import { type PageKit, PageRefusal } from "./shell/kit.ts";
import { problemPage, problemReply } from "./shell/problem.tsx";
import { signInRoutes } from "./shell/sign-in.tsx";

export type {
  CancelForm,
  DecideForm,
  MessageForm,
  PageAction,
  PageDecision,
  PageOutcome,
  PageProblem,
  PagesSession,
  ReconcileForm,
  Signatures,
  StartForm,
} from "./session.ts";
export { problemPage, type ShownProblem } from "./shell/problem.tsx";

const OUR_FAULT = "The server made a mistake. The operator has been told.";

/**
 * The console: pages rendered here, readable without scripts, for people who are signed in.
 *
 * They read through `deps` and change things only through `session`. Mount them at the root of a server, after the
 * routes of the API.
 */
export function createPages(deps: ServerDeps, session: PagesSession): Hono {
  const kit: PageKit = { deps, session };
  const app = new Hono();
  app.use(pageHeaders);
  assetRoutes(app);
  signInRoutes(app, kit);
  overviewRoutes(app, kit);
  chatRoutes(app, kit);
  approvalRoutes(app, kit);
  runRoutes(app, kit);
  auditRoutes(app, kit);
  evaluationRoutes(app, kit);
  // Not `notFound`, which a server that mounts this would not ask; what is unknown of the API is the API's to say.
  const methods = methodsOf(app);
  app.all("*", async (c, next) => {
    if (c.req.path.startsWith("/v1/")) return next();
    const allow = methods(c.req.path);
    if (allow.length === 0) {
      return problemReply(kit, c, { status: 404, code: "not_found", detail: "There is no such page." });
    }
    c.header("Allow", allow.join(", "));
    return problemReply(kit, c, {
      status: 405,
      code: "method_unknown",
      detail: `This page takes ${allow.join(", ")}.`,
    });
  });
  app.onError((error, c) => {
    if (error instanceof PageRefusal) {
      return error.problem.status === 401 && c.req.method === "GET"
        ? c.redirect(`/sign-in?next=${encodeURIComponent(new URL(c.req.url).pathname)}`, 303)
        : problemReply(kit, c, error.problem);
    }
    const problem = session.problemOf(c, error) ?? { status: 500, code: "BELAY_INTERNAL", detail: OUR_FAULT };
    // Without a look at the store, which may be what failed.
    return problem.status >= 500 ? problemPage(c, problem) : problemReply(kit, c, problem);
  });
  return app;
}

/** Makes what says which methods the routes of an app take at a path, as they stand now. */
function methodsOf(app: Hono): (path: string) => readonly string[] {
  const routes = app.routes
    .filter(({ method }) => method !== "ALL")
    .map(({ method, path }) => ({ method, pattern: new RegExp(`^${path.replaceAll(/:\w+/g, "[^/]+")}$`) }));
  return (path) => [...new Set(routes.filter(({ pattern }) => pattern.test(path)).map(({ method }) => method))];
}
