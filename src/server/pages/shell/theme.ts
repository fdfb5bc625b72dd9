import type { Context } from "hono";
import { getCookie, setCookie } from "hono/cookie";

/** `system` follows the reader's own setting. */
export type Theme = "system" | "light" | "dark";

const COOKIE = "belay_theme";
const YEAR_S = 365 * 24 * 60 * 60;

/** The theme that the reader chose; it is no secret and decides nothing. */
export function themeOf(c: Context): Theme {
  return readTheme(getCookie(c, COOKIE));
}

export function setTheme(c: Context, chosen: string | undefined): void {
  setCookie(c, COOKIE, readTheme(chosen), { path: "/", maxAge: YEAR_S, httpOnly: true, sameSite: "Lax" });
}

function readTheme(text: string | undefined): Theme {
  return text === "light" || text === "dark" ? text : "system";
}

/** A path of this server to go back to; anything else leads to the start. */
export function localPath(wanted: string | undefined): string {
  return wanted !== undefined && /^\/(?![/\\])[\x21-\x7e]*$/.test(wanted) && !wanted.includes("\\") ? wanted : "/";
}
