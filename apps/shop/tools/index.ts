import type { AnyTool } from "belay-harness";
import type { ShopWorld } from "../world/shop-world.ts";
import { readTools } from "./read-tools.ts";
import { writeTools } from "./write-tools.ts";

/** The shop's five tools: `get_order`, `search_orders`, `issue_refund`, `cancel_order`, `send_email`. */
export function shopTools(world: ShopWorld): readonly AnyTool[] {
  return [...readTools(world), ...writeTools(world)];
}
