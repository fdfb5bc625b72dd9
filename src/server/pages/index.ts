import { Hono } from "hono";
import { BelayError } from "../../errors.ts";
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
import { problemReply } from "./shell/problem.tsx";
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
  app.all("*", async (c, next) =>
    c.req.path.startsWith("/v1/")
      ? next()
      : problemReply(kit, c, { status: 404, code: "not_found", detail: "There is no such page." }),
  );
  app.onError((error, c) => {
    if (error instanceof PageRefusal) {
      return error.problem.status === 401 && c.req.method === "GET"
        ? c.redirect(`/sign-in?next=${encodeURIComponent(new URL(c.req.url).pathname)}`, 303)
        : problemReply(kit, c, error.problem);
    }
    // Whatever an exception says is for the operator's log and not for a page.
    const code = error instanceof BelayError ? error.code : "BELAY_INTERNAL";
    return problemReply(kit, c, { status: 500, code, detail: "The server could not do this." });
  });
  return app;
}
