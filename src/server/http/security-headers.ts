import type { MiddlewareHandler } from "hono";
import type { ServerEnv } from "./env.ts";

const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self' data:",
  "font-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "frame-ancestors 'none'",
  "base-uri 'none'",
].join("; ");

const HEADERS: Readonly<Record<string, string>> = {
  "content-security-policy": CONTENT_SECURITY_POLICY,
  "x-content-type-options": "nosniff",
  "x-frame-options": "DENY",
  // A sign-in link must not travel on in a Referer; same-origin keeps the Origin of forms readable.
  "referrer-policy": "same-origin",
  "cross-origin-opener-policy": "same-origin",
  "cross-origin-resource-policy": "same-origin",
  "permissions-policy": "camera=(), microphone=(), geolocation=(), payment=()",
  "x-permitted-cross-domain-policies": "none",
};

/** Sets the headers that keep an answer from being framed, sniffed, cached or mixed with foreign script. */
export function securityHeaders(): MiddlewareHandler<ServerEnv> {
  return async (context, next) => {
    await next();
    const { headers } = context.res;
    for (const [name, value] of Object.entries(HEADERS)) {
      headers.set(name, value);
    }
    if (!headers.has("cache-control")) {
      headers.set("cache-control", "no-store");
    }
    if (context.get("isSecure")) {
      headers.set("strict-transport-security", "max-age=31536000");
    }
  };
}
