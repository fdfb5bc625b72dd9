import { raw } from "hono/html";
import type { HtmlEscapedString } from "hono/utils/html";

/** What a component gives back; everything put into it as a value is escaped when it is written. */
export type Html = HtmlEscapedString | Promise<HtmlEscapedString>;

/** A component that has nothing to show. */
export const NOTHING: Html = raw("");
