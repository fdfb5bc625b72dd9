import { describe, expect, it } from "vitest";
import { z } from "zod";
import { openSqliteStore, rebuildProjections } from "../../src/adapters/sqlite/index.ts";
import { createActionGate, defineAction, permissionBudget } from "../../src/gate/index.ts";
import { type Alarm, toolFailure } from "../../src/index.ts";
import { verifyStoreAudit } from "../../src/journal/index.ts";
import { createRollback } from "../../src/rollback/index.ts";
import { temporaryFolder } from "../adapters/sqlite/temporary-folder.ts";
import { AMY, actionsOf, DANA, gateOf } from "./support.ts";

describe("execute", () => {
  it("does what is registered, charges it, and leaves an audit trail that verifies", async () => {
    const { gate, effects, store, points } = gateOf();
    const read = await gate.execute("look", { id: "a" }, { actor: AMY });
    expect(read).toMatchObject({ status: "done", value: { id: "a" } });
    for (const name of ["note", "configure"]) {
      expect(await gate.execute(name, { id: "a" }, { actor: AMY })).toMatchObject({ status: "done" });
    }
    expect(effects).toEqual(["look a", "note a", "configure a"]);
    expect(await points()).toEqual([16, 0]);
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    const runs = await store.runs({ tenant: "default" });
    expect(runs.map(({ status, principal, agent }) => [status, principal.id, agent])).toEqual(
      Array.from({ length: 3 }, () => ["done", "amy", "action-gate"]),
    );
  });

  it("refuses an unknown action as a matter of permission, and records that somebody tried", async () => {
    const { gate, store, points } = gateOf();
    for (const name of ["drop_tables", "constructor", "__proto__", "", "look\u202e"]) {
      const outcome = await gate.execute(name, { id: "a" }, { actor: AMY });
      expect(outcome).toMatchObject({ status: "not_permitted", code: "BELAY_ACTION_UNKNOWN" });
    }
    expect(() => gate.actions.get("drop_tables")).toThrow(
      expect.objectContaining({ code: "BELAY_ACTION_UNKNOWN", message: expect.stringContaining("look, note") }),
    );
    expect(gate.actions.isAllowed("constructor", "irreversible")).toBe(false);
    expect(await points()).toEqual([0, 0]);
    expect(await store.runs({ tenant: "default" })).toHaveLength(5);
  });

  it("never touches the action with arguments that do not fit", async () => {
    const { gate, effects, points } = gateOf();
    for (const args of [{}, { id: 5 }, { id: "a", extra: 1 }, null, "text", undefined, { id: 5n }]) {
      expect(await gate.execute("note", args, { actor: AMY })).toMatchObject({ status: "refused" });
    }
    expect(effects).toEqual([]);
    expect(await points()).toEqual([0, 0]);
  });

  it("asks for an actor", async () => {
    const { gate } = gateOf();
    const nobody = { kind: "customer", id: "" } as const;
    await expect(gate.execute("look", { id: "a" }, { actor: nobody })).rejects.toThrow(/needs an actor/);
  });

  it("denies what the budget has no points for, before anybody is asked", async () => {
    const { gate, effects, points, store } = gateOf({ budget: permissionBudget({ total: 12 }) });
    await gate.execute("configure", { id: "a" }, { actor: AMY });
    const denied = await gate.execute("note", { id: "b" }, { actor: AMY });
    expect(denied).toMatchObject({ status: "denied", code: "BUDGET_EXHAUSTED" });
    expect(await gate.execute("erase", { id: "c" }, { actor: AMY })).toMatchObject({ code: "BUDGET_EXHAUSTED" });
    expect(await store.approvals({ tenant: "default" })).toEqual([]);
    expect(effects).toEqual(["configure a"]);
    expect(await points()).toEqual([10, 0]);
  });

  it("does a named execution once, and refuses the name for anything else", async () => {
    const { gate, effects } = gateOf();
    const first = await gate.execute("note", { id: "a" }, { actor: AMY, runId: "order-7" });
    const again = await gate.execute("note", { id: "a" }, { actor: AMY, runId: "order-7" });
    expect(again).toEqual(first);
    expect(effects).toEqual(["note a"]);
    await expect(gate.execute("note", { id: "b" }, { actor: AMY, runId: "order-7" })).rejects.toThrow(
      expect.objectContaining({ code: "BELAY_RUN_EXISTS" }),
    );
  });

  it("keeps actors below their level, and the application's own rules in front", async () => {
    const { gate, effects } = gateOf({
      ceilingOf: ({ id }) => (id === "amy" ? "write" : ("root" as never)),
      rules: [
        {
          id: "own",
          decide: ({ args }) => ({ verdict: "deny", code: "OWN", reason: JSON.stringify(args) }),
          tools: ["note"],
        },
      ],
    });
    const codes = [];
    for (const [name, actor] of [
      ["look", AMY],
      ["note", AMY],
      ["configure", AMY],
      ["look", DANA],
    ] as const) {
      const outcome = await gate.execute(name, { id: "a" }, { actor });
      codes.push("code" in outcome ? outcome.code : outcome.status);
    }
    expect(codes).toEqual(["done", "OWN", "LEVEL_NOT_PERMITTED", "LEVEL_NOT_PERMITTED"]);
    expect(effects).toEqual(["look a"]);
  });
});

describe("approveAndExecute", () => {
  it("does an irreversible action after a person's yes, once, and holds no points before", async () => {
    const { gate, effects, points } = gateOf();
    const asked = await gate.execute("erase", { id: "a" }, { actor: AMY });
    expect(asked).toMatchObject({ status: "approval_required", code: "IRREVERSIBLE" });
    expect(await points()).toEqual([0, 0]);
    const approvalId = asked.status === "approval_required" ? asked.approvalId : "";
    const both = await Promise.all([
      gate.approveAndExecute(approvalId, { actor: DANA }),
      gate.approveAndExecute(approvalId, { actor: DANA }),
    ]);
    expect(both.map(({ status }) => status)).toEqual(["done", "done"]);
    expect(await gate.approveAndExecute(approvalId, { actor: DANA })).toMatchObject({ status: "done" });
    expect(effects).toEqual(["erase a"]);
    expect(await points()).toEqual([40, 0]);
  });

  it("listens to a person alone, not to the one who asked, and only about its own questions", async () => {
    const { gate, effects, store, options } = gateOf();
    const asked = await gate.execute("erase", { id: "a" }, { actor: DANA });
    const approvalId = asked.status === "approval_required" ? asked.approvalId : "";
    for (const actor of [DANA, AMY, { kind: "agent", id: "bot" } as const]) {
      expect(await gate.approveAndExecute(approvalId, { actor })).toMatchObject({
        status: "not_permitted",
        code: "BELAY_NOT_PERMITTED",
      });
    }
    const lee = { kind: "person", id: "lee" } as const;
    expect(await gate.approveAndExecute("apr_x", { actor: lee })).toMatchObject({ code: "BELAY_APPROVAL_UNKNOWN" });
    const other = createActionGate({ ...options, name: "other" });
    expect(await other.approveAndExecute(approvalId, { actor: lee })).toMatchObject({ code: "BELAY_APPROVAL_UNKNOWN" });
    expect(await gate.approveAndExecute(approvalId, { actor: lee, argsHash: "of something else" })).toMatchObject({
      code: "BELAY_APPROVAL_DIGEST",
    });
    expect((await store.approval("default", approvalId))?.status).toBe("pending");
    expect(await gate.approveAndExecute(approvalId, { actor: lee })).toMatchObject({ status: "done" });
    expect(effects).toEqual(["erase a"]);
  });

  it("comes too late after a no, and after the question has expired", async () => {
    let now = 1_800_000_000_000;
    const { gate, effects, points } = gateOf({ clock: { now: () => now } });
    const rejected = await gate.execute("erase", { id: "a" }, { actor: AMY });
    const expired = await gate.execute("erase", { id: "b" }, { actor: AMY });
    const idOf = (outcome: typeof rejected) => (outcome.status === "approval_required" ? outcome.approvalId : "");
    expect(await gate.reject(idOf(rejected), { actor: DANA })).toMatchObject({ status: "rejected" });
    expect(await gate.approveAndExecute(idOf(rejected), { actor: DANA })).toMatchObject({ status: "rejected" });
    now += 25 * 3_600_000;
    expect(await gate.approveAndExecute(idOf(expired), { actor: DANA })).toMatchObject({ status: "expired" });
    expect(effects).toEqual([]);
    expect(await points()).toEqual([0, 0]);
  });

  it("works in another process over a file, where the balance can be derived again", async () => {
    const path = `${temporaryFolder()}/gate.db`;
    let approvalId = "";
    {
      await using store = await openSqliteStore(path);
      const { gate } = gateOf({ store });
      await gate.execute("note", { id: "a" }, { actor: AMY });
      const asked = await gate.execute("erase", { id: "b" }, { actor: AMY });
      approvalId = asked.status === "approval_required" ? asked.approvalId : "";
    }
    await using store = await openSqliteStore(path);
    const { gate, effects, points } = gateOf({ store });
    expect(await gate.approveAndExecute(approvalId, { actor: DANA })).toMatchObject({ status: "done" });
    expect(effects).toEqual(["erase b"]);
    expect(await points()).toEqual([45, 0]);
    expect(await rebuildProjections(store)).toEqual([]);
  });
});

describe("changing actions on state in memory", () => {
  const transfer = (fails: () => unknown) =>
    defineAction({
      name: "transfer",
      description: "",
      level: "write",
      recovery: "keyed",
      cost: 3,
      input: z.strictObject({ amount: z.int() }),
      execute: ({ amount }) => {
        accounts.a -= amount;
        const failure = fails();
        if (failure !== undefined) return failure;
        accounts.b += amount;
        return { ...accounts };
      },
    });
  let accounts = { a: 100, b: 0 };

  it("happen whole or not at all, give the points back, and can be taken back afterwards", async () => {
    accounts = { a: 100, b: 0 };
    let failure: "throw" | "return" | "none" = "throw";
    const rollback = createRollback();
    const alarms: Alarm[] = [];
    const { gate, points } = gateOf({
      actions: [
        transfer(() => {
          if (failure === "throw") throw new Error("secret text");
          return failure === "return" ? toolFailure("NO_MONEY", "no money") : undefined;
        }),
      ],
      state: { rollback, state: accounts },
      onAlarm: (alarm) => alarms.push(alarm),
    });
    const thrown = await gate.execute("transfer", { amount: 30 }, { actor: AMY });
    expect(thrown).toMatchObject({ status: "failed", code: "rolled_back" });
    expect(JSON.stringify(thrown)).not.toContain("secret");
    expect(alarms.map(({ code, cause }) => [code, (cause as Error).message])).toEqual([["TOOL_FAILED", "secret text"]]);
    expect(accounts).toEqual({ a: 100, b: 0 });
    failure = "return";
    const failed = await gate.execute("transfer", { amount: 30 }, { actor: AMY });
    expect(failed).toMatchObject({ status: "failed", code: "NO_MONEY" });
    expect(accounts).toEqual({ a: 100, b: 0 });
    expect(await points()).toEqual([0, 0]);
    failure = "none";
    expect(await gate.execute("transfer", { amount: 30 }, { actor: AMY })).toMatchObject({ status: "done" });
    expect(accounts).toEqual({ a: 70, b: 30 });
    expect(await points()).toEqual([3, 0]);
    expect(rollback.rollbackLast(accounts)).toBe("transfer");
    expect(accounts).toEqual({ a: 100, b: 0 });
  });

  it("do not mix when they run at once", async () => {
    accounts = { a: 100, b: 0 };
    let count = 0;
    const slow = defineAction({
      ...transfer(() => undefined),
      execute: async ({ amount }) => {
        const before = accounts.a;
        await new Promise((resolve) => setTimeout(resolve, 1));
        accounts.a = before - amount;
        count += 1;
        return count % 2 === 0 ? toolFailure("ODD", "every second one fails") : null;
      },
    });
    const { gate } = gateOf({ actions: [slow], state: { rollback: createRollback(), state: accounts } });
    await Promise.all(Array.from({ length: 10 }, () => gate.execute("transfer", { amount: 1 }, { actor: AMY })));
    expect(accounts.a).toBe(95);
  });
});

it("stops at the start for what could only fail later", () => {
  const [look] = actionsOf([]);
  if (look === undefined) throw new Error("no action");
  const make = (actions: readonly unknown[]) => () => gateOf({ actions: actions as never });
  expect(make([{ ...look, cost: -1 }])).toThrow(/whole number of points/);
  expect(make([{ ...look, cost: undefined }])).toThrow(/whole number of points/);
  expect(make([look, look])).toThrow(/Rename one/);
  expect(make([{ ...look, level: "root" }])).toThrow(/Use one of read, write/);
  expect(() => permissionBudget({})).toThrow(/no limit/);
  expect(() => permissionBudget({ total: 1.5 })).toThrow(/whole number/);
});
