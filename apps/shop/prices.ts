import type { PriceTable } from "belay-harness";
import { PLANNER_ID } from "./planner.ts";

// ASSUMED, not a quote: neither the planner nor a script costs anything. They are charged like a small hosted model, so
// that the cost limit and the report's mean cost say something.
const ASSUMED = { inputUsdPerMillion: 0.15, outputUsdPerMillion: 0.6 };

export const SHOP_PRICES: PriceTable = { [PLANNER_ID]: ASSUMED, scripted: ASSUMED };
