import { type App, defineApp } from "belay-harness/config";
import { shopAgent } from "./agent.ts";
import { shopEvals } from "./evals/index.ts";
import { shopPlanner } from "./planner.ts";
import { SHOP_PRICES } from "./prices.ts";
import { openShopWorld, type ShopWorld } from "./world/shop-world.ts";

const shop: App<ShopWorld> = defineApp({
  name: "shop",
  description: "Support agent of an online shop: looks up, refunds and cancels orders and sends e-mails about them",
  openWorld: (path, options) => openShopWorld(path, options),
  agent: (world) => shopAgent(world),
  offlineModel: () => shopPlanner(),
  prices: SHOP_PRICES,
  // No customer: the desk speaks for whichever customer stands before it.
  defaultPrincipal: { kind: "person", id: "front-desk" },
  suites: {
    reference: async () => (await import("./scenarios/index.ts")).referenceSuite(),
    guards: async () => (await import("./scenarios/index.ts")).guardsSuite(),
  },
  evals: shopEvals,
  moneyAtStake: ({ tool, args }) => {
    const amount =
      typeof args === "object" && args !== null && "amount_paise" in args ? args["amount_paise"] : undefined;
    return tool === "issue_refund" && typeof amount === "number" ? { amount, unit: "paise" } : undefined;
  },
});

export default shop;
