import type { Context } from "hono";
import { deleteCookie, getCookie, setCookie } from "hono/cookie";
import { formToken, newSecret } from "../people/secret.ts";
import type { ServerContext } from "./env.ts";

export const SESSION_COOKIE = "belay_session";
const FORM_COOKIE = "belay_form";
/** Name of the header with which scripts show that they belong to a page of this server. */
export const CSRF_HEADER = "x-belay-csrf";

/** Over TLS the name itself forbids that another host or a plain connection sets it. */
function nameOf(context: ServerContext, name: string): string {
  return context.get("isSecure") ? `__Host-${name}` : name;
}

function attributes(context: ServerContext, maxAgeMs: number): NonNullable<Parameters<typeof setCookie>[3]> {
  return {
    path: "/",
    httpOnly: true,
    sameSite: "Lax",
    secure: context.get("isSecure"),
    maxAge: Math.floor(maxAgeMs / 1000),
  };
}

export function readSession(context: ServerContext): string | undefined {
  return getCookie(context, nameOf(context, SESSION_COOKIE));
}

export function writeSession(context: ServerContext, session: string, lifeMs: number): void {
  setCookie(context, nameOf(context, SESSION_COOKIE), session, attributes(context, lifeMs));
}

export function clearSession(context: ServerContext): void {
  deleteCookie(context, nameOf(context, SESSION_COOKIE), { path: "/", secure: context.get("isSecure") });
}

const HOUR_MS = 3_600_000;

/** The token of this browser's forms: bound to the session, and before sign-in to a cookie of its own. */
export function csrfTokenOf(context: ServerContext): string {
  const session = context.get("session");
  if (session !== undefined) return formToken(session);
  const name = nameOf(context, FORM_COOKIE);
  const known = context.get("formSecret") ?? getCookie(context, name);
  const secret = known ?? newSecret("session");
  if (known === undefined) {
    context.set("formSecret", secret);
    setCookie(context, name, secret, attributes(context, HOUR_MS));
  }
  return formToken(secret);
}

/**
 * What the browser says of where a request comes from: never from another site.
 *
 * `Sec-Fetch-Site` cannot be set by a page; older browsers send `Origin`. Neither: no browser, and the token decides.
 */
export function isFromOwnPages(context: Context): boolean {
  const site = context.req.header("sec-fetch-site");
  if (site !== undefined) return site === "same-origin";
  const origin = context.req.header("origin");
  if (origin === undefined) return true;
  return URL.canParse(origin) && new URL(origin).host === context.req.header("host");
}
