import type { PriceTable } from "belay-harness";
import { PLANNER_ID } from "./planner.ts";

const FREE = { inputUsdPerMillion: 0, outputUsdPerMillion: 0 };

/** The planner and scripts run in this process: their price is known, and it is nothing. */
export const STOCKROOM_PRICES: PriceTable = { [PLANNER_ID]: FREE, scripted: FREE };
