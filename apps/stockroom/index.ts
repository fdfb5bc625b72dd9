import type { App } from "belay-harness/config";
import { stockroomConfig } from "./config.ts";
import { createStockroomApp } from "./create-app.ts";
import type { StockroomWorld } from "./world/stockroom-world.ts";

/** The app as the environment configures it, such as `STOCKROOM_WEAKNESSES=naive_retry`. */
const stockroom: App<StockroomWorld> = createStockroomApp(stockroomConfig({}, process.env));

export default stockroom;
