import type { AnyTool } from "belay-harness";
import { createSearch } from "../search/bm25.ts";
import { readPolicyChunks } from "../search/policy-chunks.ts";
import type { Weakness } from "../weaknesses.ts";
import type { StockroomWorld } from "../world/stockroom-world.ts";
import { AMBIGUOUS_DESCRIPTION, DESCRIPTIONS, type StockroomToolName } from "./descriptions.ts";
import { orderStatusTool, oversizedSearchTool, policyTool, searchProductsTool, stockLevelTool } from "./read-tools.ts";
import { restockTool } from "./restock-tool.ts";

export interface StockroomToolOptions {
  readonly weaknesses?: readonly Weakness[];
  /** Descriptions in place of the app's own, such as a sharper one that is being tried. */
  readonly descriptions?: Partial<Readonly<Record<StockroomToolName, string>>>;
  /** Folder of the policy documents; default the app's own. */
  readonly policies?: URL;
}

/** Where the app keeps its policy documents. */
export const POLICY_FOLDER: URL = new URL("../policies/", import.meta.url);

/**
 * The five tools: `search_products`, `get_stock_level`, `get_order_status`, `create_restock_request`,
 * `search_policy_docs`. Throws `BELAY_FILE_UNREADABLE` for a missing policy document.
 */
export function stockroomTools(world: StockroomWorld, options: StockroomToolOptions = {}): readonly AnyTool[] {
  const { weaknesses = [], policies = POLICY_FOLDER } = options;
  const ambiguous = weaknesses.includes("ambiguous_tool_desc") ? { search_products: AMBIGUOUS_DESCRIPTION } : {};
  const texts: Readonly<Record<StockroomToolName, string>> = { ...DESCRIPTIONS, ...ambiguous, ...options.descriptions };
  const search = weaknesses.includes("oversized_payload") ? oversizedSearchTool : searchProductsTool;
  const chunks = policySearch(policies);
  return [
    search(texts.search_products),
    stockLevelTool(texts.get_stock_level),
    orderStatusTool(texts.get_order_status, world, weaknesses.includes("naive_retry")),
    restockTool(texts.create_restock_request, world),
    policyTool(texts.search_policy_docs, chunks),
  ];
}

type PolicySearch = Parameters<typeof policyTool>[1];

// The documents do not change while a program runs, and an evaluation makes the tools once for each case.
const searches = new Map<string, PolicySearch>();

function policySearch(folder: URL): PolicySearch {
  let search = searches.get(folder.href);
  if (search === undefined) {
    search = createSearch(readPolicyChunks(folder), ({ title, section, text }) => `${title} ${section} ${text}`);
    searches.set(folder.href, search);
  }
  return search;
}
