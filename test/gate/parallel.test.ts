import { spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";
import fc from "fast-check";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { openSqliteStore, rebuildProjections } from "../../src/adapters/sqlite/index.ts";
import { permissionBudget } from "../../src/gate/index.ts";
import { createMemoryStore, type Store } from "../../src/journal/index.ts";
import { temporaryFolder } from "../adapters/sqlite/temporary-folder.ts";
import { AMY, DANA, gateOf } from "./support.ts";

const SPENDER = fileURLToPath(new URL("./children/spender.ts", import.meta.url));

describe.each(["memory", "sqlite"])("a hundred executions at once against one budget (%s)", (kind) => {
  it("spend all of it and no point more", async () => {
    await using store: Store =
      kind === "memory" ? createMemoryStore() : await openSqliteStore(`${temporaryFolder()}/gate.db`);
    const { gate, effects, points } = gateOf({ store });
    const outcomes = await Promise.all(
      Array.from({ length: 100 }, (_, index) => gate.execute("note", { id: String(index) }, { actor: AMY })),
    );
    expect(outcomes.filter(({ status }) => status === "done")).toHaveLength(20);
    expect(outcomes.filter((outcome) => "code" in outcome && outcome.code === "BUDGET_EXHAUSTED")).toHaveLength(80);
    expect(effects).toHaveLength(20);
    expect(await points()).toEqual([100, 0]);
  }, 60_000);
});

it("two processes on one file share the budget, also when both are killed and others go on", async () => {
  const path = `${temporaryFolder()}/gate.db`;
  const spend = async (count: number, killAfter?: number) => {
    const child = spawn(process.execPath, ["--conditions=belay-source", SPENDER, path, String(count)], {
      stdio: ["ignore", "pipe", "inherit"],
    });
    let text = "";
    child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
      text += chunk;
      if (killAfter !== undefined && text.split("\n").length > killAfter) child.kill("SIGKILL");
    });
    await once(child, "close");
    return text.split("\n").filter((line) => line !== "");
  };
  const killed = (await Promise.all([spend(1000, 4), spend(1000, 4)])).flat();
  const finished = (await Promise.all([spend(60), spend(60)])).flat();
  await using store = await openSqliteStore(path);
  const { gate } = gateOf({ store });
  await new Promise((resolve) => setTimeout(resolve, 400));
  await gate.harness.recover();
  const { used, reserved } = await store.budget("default", "points");
  const events = [];
  for await (const line of store.audit.lines()) events.push(JSON.parse(line.text) as { type: string; amount?: number });
  const settled = events.filter(({ type }) => type === "budget.settled");
  expect(used).toBe(100);
  expect(reserved).toBe(0);
  expect(settled).toHaveLength(20);
  const acknowledged = [...killed, ...finished];
  expect(killed.length).toBeGreaterThan(0);
  expect(acknowledged.length).toBeLessThanOrEqual(20);
  expect(await rebuildProjections(store)).toEqual([]);
}, 60_000);

it("whatever people answer and actions do, the budget is never below zero nor above its total", async () => {
  const step = fc.record({
    name: fc.constantFrom("look", "note", "configure", "erase", "unknown"),
    answer: fc.constantFrom("approve", "reject", "twice", "never"),
    isFailing: fc.boolean(),
  });
  await fc.assert(
    fc.asyncProperty(fc.array(step, { maxLength: 12 }), async (steps) => {
      const setup = gateOf({ budget: permissionBudget({ total: 60, perRun: 40 }) });
      let failing = false;
      const actions = setup.options.actions.map((action) => ({
        ...action,
        execute: async (...parts: Parameters<typeof action.execute>) => {
          if (failing) throw new Error("fails");
          return action.execute(...parts);
        },
      }));
      const { gate, points, store } = gateOf({ ...setup.options, actions });
      await Promise.all(
        steps.map(async ({ name, answer, isFailing }) => {
          failing = isFailing;
          const outcome = await gate.execute(name, { id: "x" }, { actor: AMY });
          if (outcome.status !== "approval_required" || answer === "never") return;
          const { approvalId } = outcome;
          if (answer === "reject") await gate.reject(approvalId, { actor: DANA });
          else await gate.approveAndExecute(approvalId, { actor: DANA });
          if (answer === "twice") await gate.approveAndExecute(approvalId, { actor: DANA });
        }),
      );
      const [used = Number.NaN, reserved = Number.NaN] = await points();
      expect(used).toBeGreaterThanOrEqual(0);
      expect(used + reserved).toBeLessThanOrEqual(60);
      // Points of a call of which nobody knows whether it happened are held until a person finds out.
      const doubts = await store.runs({ tenant: "default", inDoubt: true });
      expect(reserved > 0).toBe(doubts.length > 0);
    }),
    { numRuns: 60 },
  );
});

it("budgets per run, person, agent and day are apart, and say what is left", async () => {
  let now = Date.UTC(2030, 0, 1, 23, 59);
  const budget = permissionBudget({ name: "p", total: 1000, perRun: 40, perPerson: 12, perAgent: 100, perDay: 20 });
  const { gate, store } = gateOf({ budget, clock: { now: () => now } });
  const run = async (id: string) => (await gate.execute("note", { id }, { actor: { kind: "customer", id } })).status;
  expect([await run("amy"), await run("amy"), await run("amy")]).toEqual(["done", "done", "denied"]);
  expect([await run("bob"), await run("bob"), await run("cyd")]).toEqual(["done", "done", "denied"]);
  now += 120_000;
  expect([await run("amy"), await run("cyd")]).toEqual(["denied", "done"]);
  const call = {
    tenant: "default",
    principal: { kind: "customer", id: "cyd" },
    runId: "r",
    agent: "action-gate",
    tool: "note",
    now,
  } as const;
  const left = await budget.remaining(store, call);
  expect(left.map(({ budget: name, remaining }) => [name, remaining])).toEqual([
    ["p", 975],
    ["p:run:r", 40],
    ["p:person:customer:cyd", 7],
    ["p:agent:action-gate", 75],
    ["p:day:2030-01-02", 15],
  ]);
});

it("takes many actions in one second, one after the other: those that have ended do not wait for a worker", async () => {
  let now = 0;
  const spied = vi.spyOn(performance, "now").mockImplementation(() => {
    now += 0.1;
    return now;
  });
  onTestFinished(() => void spied.mockRestore());
  const { gate, effects } = gateOf({ budget: permissionBudget({ total: 100_000 }) });
  for (let index = 0; index < 1500; index += 1) await gate.execute("note", { id: String(index) }, { actor: AMY });
  expect(effects).toHaveLength(1500);
}, 60_000);
