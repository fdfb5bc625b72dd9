import { defineConfig } from "belay-harness/config";

export default defineConfig({
  apps: {
    shop: () => import("./apps/shop/index.ts"),
    stockroom: () => import("./apps/stockroom/index.ts"),
  },
  people: [
    { id: "olga", name: "Olga", roles: ["operator"] },
    { id: "dana", name: "Dana", roles: ["approver"] },
    { id: "lee", name: "Lee", roles: ["approver"] },
    { id: "vik", name: "Vik", roles: ["viewer"] },
  ],
  demo: [
    { app: "shop", as: "C-01", message: "My lamp from order O-1001 arrived broken. Please refund Rs 1,500." },
    { app: "shop", as: "C-02", message: "Hi, where is my order O-1002?" },
    { app: "shop", as: "C-04", message: "Please refund Rs 1,200 for order O-1004." },
    { app: "shop", as: "C-05", message: "The pressure cooker leaks. Please refund Rs 4,000 for order O-1005." },
    { app: "shop", as: "C-11", message: "Please refund Rs 3,200 for order O-1011." },
  ],
});
