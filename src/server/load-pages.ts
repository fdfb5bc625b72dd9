import type { Hono } from "hono";
import type { ServerDeps } from "./deps.ts";
import type { PagesSession } from "./pages/session.ts";

/** Loads the console for the `pages` of `createServer`. Apart, because programs that only use the API do not need it. */
export async function loadPages(): Promise<(deps: ServerDeps, session: PagesSession) => Hono> {
  return (await import("./pages/index.ts")).createPages;
}
