import type { Context } from "hono";
import type { RunRow } from "../../../journal/index.ts";
import type { ServedApp, ServerDeps, SignedIn } from "../../deps.ts";
import type { PageProblem, PagesSession } from "../session.ts";
import { type Theme, themeOf } from "./theme.ts";

/** What every page is built from. */
export interface PageKit {
  readonly deps: ServerDeps;
  readonly session: PagesSession;
}

/** What the frame of a page shows. */
export interface View {
  readonly me?: SignedIn;
  readonly csrf: { readonly field: string; readonly token: string };
  readonly theme: Theme;
  /** Path and query of this page. */
  readonly here: string;
  /** Questions that wait, up to `WAITING_SHOWN_MAX + 1`. */
  readonly waiting: number;
  readonly now: number;
}

/** More waiting questions than this are shown as `9+`; counting all of them on every page would cost too much. */
export const WAITING_SHOWN_MAX = 9;

export async function viewOf({ deps, session }: PageKit, c: Context): Promise<View> {
  const me = personOf(session, c);
  const url = new URL(c.req.url);
  const waiting =
    me === undefined
      ? []
      : await deps.store.approvals({ tenant: me.tenant, status: "pending", limit: WAITING_SHOWN_MAX + 1 });
  return {
    ...(me !== undefined && { me }),
    csrf: { field: session.csrfField, token: session.csrfToken(c) },
    theme: themeOf(c),
    here: c.req.method === "GET" ? `${url.pathname}${url.search}` : "/",
    waiting: waiting.length,
    now: deps.clock.now(),
  };
}

/** The app whose agent made a run; runs carry the agent's name. */
export function appOf(deps: ServerDeps, agent: string): ServedApp | undefined {
  return deps.apps.get(agent) ?? [...deps.apps.values()].find((app) => app.harness.agent.name === agent);
}

/** The app's own word for the end of a run. */
export function endLabel(deps: ServerDeps, run: Pick<RunRow, "agent" | "termination">): string | undefined {
  return run.termination === undefined
    ? undefined
    : (appOf(deps, run.agent)?.labelOf(run.termination) ?? run.termination);
}

/** A refusal that a page shows instead of what was asked for. */
export class PageRefusal extends Error {
  override readonly name: string = "PageRefusal";
  readonly problem: PageProblem;
  constructor(problem: PageProblem) {
    super(problem.detail);
    this.problem = problem;
  }
}

export function notFound(what: string): PageRefusal {
  return new PageRefusal({ status: 404, code: "not_found", detail: what });
}

/** Who is signed in; throws the refusal that leads to the sign-in page. */
export function signedIn({ session }: PageKit, c: Context): SignedIn {
  const me = personOf(session, c);
  if (me === undefined) {
    throw new PageRefusal({ status: 401, code: "not_signed_in", detail: "Sign in to see this page." });
  }
  return me;
}

/** Pages are for people: the credential of a program opens none, since it may see only what it started itself. */
function personOf(session: PagesSession, c: Context): SignedIn | undefined {
  const me = session.current(c);
  return me?.kind === "agent" ? undefined : me;
}
