import type { Context, Hono } from "hono";
import type { ServerDeps } from "./deps.ts";
import type { PagesSession } from "./pages/session.ts";
import type { ShownProblem } from "./pages/shell/problem.tsx";

/** Loads the console for the `pages` of `createServer`. Apart, because programs that only use the API do not need it. */
export async function loadPages(): Promise<(deps: ServerDeps, session: PagesSession) => Hono> {
  return (await import("./pages/index.ts")).createPages;
}

/** Loads what shows a problem to a person; only a server that has pages needs it. */
export async function loadProblemPage(): Promise<(c: Context, problem: ShownProblem) => Promise<Response>> {
  return (await import("./pages/index.ts")).problemPage;
}
