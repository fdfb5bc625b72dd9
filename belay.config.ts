import { defineConfig } from "belay-harness/config";

export default defineConfig({
  apps: {
    shop: () => import("./apps/shop/index.ts"),
    stockroom: () => import("./apps/stockroom/index.ts"),
  },
  people: [
    { id: "dana", name: "Dana", roles: ["approver"] },
    { id: "lee", name: "Lee", roles: ["approver"] },
    { id: "vik", name: "Vik", roles: ["viewer"] },
  ],
});
