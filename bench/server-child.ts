/** The server that `bench/server.ts` measures: `node server-child.ts <folder> work|inbox <pending>`. */
import { join } from "node:path";
import { createHarness, type Store } from "belay-harness";
import {
  createDecisionGuard,
  createLiveRuns,
  createPeopleStore,
  createServer,
  listen,
  loadPages,
  openServerDatabase,
} from "belay-harness/server";
import { openSqliteStore } from "belay-harness/sqlite";
import shop from "../apps/shop/index.ts";
import { openShopWorld } from "../apps/shop/world/shop-world.ts";

const [folder = "", mode = "work", pending = "0"] = process.argv.slice(2);
const UNLIMITED = { burst: 1e9, perMinute: 1e9 };
const clock = { now: Date.now };

const store = await openSqliteStore(join(folder, "belay.db"));
const database = openServerDatabase(join(folder, "belay-server.db"));
const people = createPeopleStore(database);
people.add({ id: "olga", name: "Olga", roles: ["admin"], tenant: "default" });
const world = openShopWorld(join(folder, "shop.db"));
const harness = createHarness({
  agent: shop.agent(world, Date.now),
  model: shop.offlineModel(world),
  store,
  ...(shop.prices && { prices: shop.prices }),
  mayDecide: createDecisionGuard(people),
});
const live = createLiveRuns(store);
const app = createServer({
  store,
  clock,
  people,
  database,
  live,
  apps: new Map([["shop", { name: "shop", description: shop.description, harness, labelOf: String }]]),
  limits: { perSession: UNLIMITED, perAddress: UNLIMITED },
  pages: await loadPages(),
});

const asked = await harness.run("The pressure cooker leaks. Please refund Rs 4,000 for order O-1005.", {
  principal: { kind: "customer", id: "C-05" },
}).result;
let recoverMs = 0;
if (mode === "inbox") {
  await copyQuestion(store, asked.runId, Number(pending));
  const start = performance.now();
  await harness.recover();
  recoverMs = performance.now() - start;
}
const working = mode === "inbox" ? undefined : await harness.work();
const server = await listen(app, { port: 0 });

process.on("message", () => {
  globalThis.gc?.();
  const { user, system } = process.cpuUsage();
  process.send?.({ memoryMb: process.memoryUsage().rss / 1e6, cpuMs: (user + system) / 1000 });
});
process.on("disconnect", () => {
  stop().then(
    () => process.exit(0),
    () => process.exit(1),
  );
});
process.send?.({
  port: server.port,
  token: people.issue("token", "default", "olga"),
  session: people.redeem(people.issue("link", "default", "olga"))?.session,
  waitingRun: asked.runId,
  recoverMs,
});

async function stop(): Promise<void> {
  await server.close(0);
  await live.close();
  await working?.close();
  await store.close();
  world.close();
  database.close();
}

/** Writes the journal of a waiting run again and again, as so many runs of their own. */
async function copyQuestion(target: Store, runId: string, count: number): Promise<void> {
  const entries = await target.read({ tenant: "default", runId });
  const copyOf = (index: number) => {
    const own = entries.map(({ at, event }) => ({
      at,
      event: event.type === "approval.requested" ? { ...event, approvalId: `apr_copy${index}` } : event,
    }));
    return target.commit({ run: { tenant: "default", runId: `run_copy${index}` }, head: 0, entries: own });
  };
  for (let from = 0; from < count; from += 500) {
    await Promise.all(Array.from({ length: Math.min(500, count - from) }, (_, index) => copyOf(from + index)));
  }
}
