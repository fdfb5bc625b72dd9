import type { Context } from "hono";
import { html } from "hono/html";
import type { ContentfulStatusCode } from "hono/utils/http-status";
import type { Html } from "../html.ts";
import { Frame } from "./frame.tsx";
import type { View } from "./kit.ts";

/** Sends a page. */
export async function reply(
  c: Context,
  view: View,
  title: string,
  body: Html,
  status: ContentfulStatusCode = 200,
): Promise<Response> {
  return c.html(
    html`<!doctype html>${(
      <Frame view={view} title={title}>
        {body}
      </Frame>
    )}`,
    status,
  );
}
