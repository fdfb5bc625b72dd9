import { BASE } from "./css/base.ts";
import { PARTS } from "./css/parts.ts";
import { TOKENS } from "./css/tokens.ts";
import { VIEWS } from "./css/views.ts";

/** The one stylesheet of all pages. */
export const STYLESHEET: string = [TOKENS, BASE, PARTS, VIEWS].join("");
