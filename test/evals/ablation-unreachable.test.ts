import { globSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { describe, expect, it } from "vitest";
import shop from "../../apps/shop/index.ts";
import { openShopWorld } from "../../apps/shop/world/shop-world.ts";
import { COMMANDS } from "../../src/cli/commands.ts";
import { controlsOf, createAblatedHarness } from "../../src/engine/ablation.ts";
import { createHarness } from "../../src/engine/index.ts";
import { runSuite } from "../../src/evals/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";
import { jsonProtocol } from "../../src/model/index.ts";
import { scriptedTextModel } from "../../src/testing/index.ts";

const project = join(import.meta.dirname, "../..");

/** A model that refunds an order that nobody named. */
const greedy = () =>
  jsonProtocol(
    scriptedTextModel([
      '{"tool": "issue_refund", "args": {"order_id": "O-1001", "amount_paise": 150000, "idempotency_key": "key-00000001"}}',
      '{"final": "Done."}',
    ]),
  );

describe("leaving a control out", () => {
  it.each(["without", "controls", "disabled", "ablate", "skip", "guards", "rules", "filters"])(
    "is no option of createHarness: %s changes nothing",
    async (option) => {
      const world = openShopWorld(":memory:");
      const agent = shop.agent(world, Date.now);
      const names = controlsOf(agent).map(({ id }) => id);
      const values: readonly unknown[] = [names, names.map((name) => name.split(":")[1]), [], {}, true];
      for (const value of values) {
        const options = { agent, model: greedy(), store: createMemoryStore(), prices: shop.prices ?? {} };
        const harness = createHarness({ ...options, [option]: value });
        const { status, calls } = await harness.run("Where is my order?").result;
        expect([status, calls.map(({ outcome }) => outcome?.status)]).toEqual(["done", ["denied"]]);
      }
      expect(world.snapshot().refunds).toEqual({});
      world.close();
    },
  );

  it("is possible only in a store that the ablated harness makes itself", () => {
    const world = openShopWorld(":memory:");
    const agent = shop.agent(world, Date.now);
    const refused = expect.objectContaining({ code: "BELAY_ABLATION" });
    const options = { agent, model: greedy() };
    expect(() => createAblatedHarness({ ...options, store: createMemoryStore() } as never, [])).toThrow(refused);
    expect(() => createAblatedHarness({ ...options, waker: {} } as never, [])).toThrow(refused);
    expect(() => createAblatedHarness(options, ["rule:nope"])).toThrow(refused);
    world.close();
  });

  it("is known to no command but ablate, and to no variable of the environment", async () => {
    const takers = COMMANDS.filter(({ options }) => ["without", "control", "ablate"].some((name) => name in options));
    expect(takers.map(({ name }) => name)).toEqual(["ablate"]);
    const sources = globSync(["src/**/*.ts", "apps/**/*.ts"], { cwd: project });
    const users = sources.filter((file) =>
      /createAblatedHarness\(|withoutControls\(/.test(readFileSync(join(project, file), "utf8")),
    );
    expect(users.sort()).toEqual(["src/engine/ablation.ts", "src/engine/controls.ts", "src/evals/case-bench.ts"]);
    const readers = users.filter((file) => readFileSync(join(project, file), "utf8").includes("process.env"));
    expect(readers).toEqual([]);
  });

  it("never touches a world but a fresh one in memory", async () => {
    const opened: string[] = [];
    const watched = {
      ...shop,
      openWorld: (path: string) => {
        opened.push(path);
        return openShopWorld(path);
      },
    };
    await runSuite(watched, "reference", { only: ["I03"], without: ["rule:named_order"] });
    expect(opened).toEqual([":memory:"]);
  });
});
