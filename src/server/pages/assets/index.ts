import { hash } from "node:crypto";
import type { Hono } from "hono";
import { CLOCKS_SCRIPT } from "./clocks.ts";
import { ICON } from "./icon.ts";
import { LIVE_SCRIPT } from "./live.ts";
import { STYLESHEET } from "./stylesheet.ts";

interface Asset {
  readonly type: string;
  readonly text: string;
  readonly etag: string;
}

export type AssetName = "console.css" | "clocks.js" | "live.js" | "icon.svg";

const ASSETS: Readonly<Record<AssetName, Asset>> = {
  "console.css": asset("text/css; charset=utf-8", STYLESHEET),
  "clocks.js": asset("text/javascript; charset=utf-8", CLOCKS_SCRIPT),
  "live.js": asset("text/javascript; charset=utf-8", LIVE_SCRIPT),
  "icon.svg": asset("image/svg+xml", ICON),
};

/** Address of a file that pages use. It changes with the content, so that no browser mixes two versions. */
export function assetUrl(name: AssetName): string {
  return `/assets/${name}?v=${ASSETS[name].etag.slice(1, 13)}`;
}

/** Serves the files of the pages. They hold nothing of anybody and need no sign-in. */
export function assetRoutes(app: Hono): void {
  app.get("/assets/:name", (c) => {
    const name = c.req.param("name");
    if (!isAssetName(name)) {
      return c.notFound();
    }
    const { type, text, etag } = ASSETS[name];
    c.header("ETag", etag);
    c.header("Cache-Control", "public, max-age=31536000, immutable");
    if (c.req.header("If-None-Match")?.includes(etag) === true) {
      return c.body(null, 304);
    }
    c.header("Content-Type", type);
    return c.body(text);
  });
}

function isAssetName(name: string): name is AssetName {
  return Object.hasOwn(ASSETS, name);
}

function asset(type: string, text: string): Asset {
  return { type, text, etag: `"${hash("sha256", text).slice(0, 32)}"` };
}
