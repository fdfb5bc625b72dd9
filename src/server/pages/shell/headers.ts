import type { MiddlewareHandler } from "hono";

/** No inline script, no inline style, nothing from elsewhere, and no page inside another. */
const CONTENT_SECURITY_POLICY = [
  "default-src 'none'",
  "script-src 'self'",
  "style-src 'self'",
  "img-src 'self'",
  "connect-src 'self'",
  "form-action 'self'",
  "base-uri 'none'",
  "frame-ancestors 'none'",
].join("; ");

/** Headers of every page. What is on a page is somebody's business data, so no cache keeps it. */
export const pageHeaders: MiddlewareHandler = async (c, next) => {
  await next();
  c.res.headers.set("Content-Security-Policy", CONTENT_SECURITY_POLICY);
  c.res.headers.set("X-Content-Type-Options", "nosniff");
  c.res.headers.set("X-Frame-Options", "DENY");
  c.res.headers.set("Referrer-Policy", "same-origin");
  c.res.headers.set("Cross-Origin-Opener-Policy", "same-origin");
  if (!c.res.headers.has("Cache-Control")) {
    c.res.headers.set("Cache-Control", "no-store");
  }
};
