import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { createRollback } from "../../src/rollback/index.ts";

const busy = expect.objectContaining({ code: "BELAY_STATE_BUSY" });
const invalid = expect.objectContaining({ code: "BELAY_STATE_INVALID" });

describe("a transaction on state in memory", () => {
  it("puts everything back when the work throws, and throws the same error on", async () => {
    const rollback = createRollback();
    const inner = { deep: [1, { x: new Map([["k", new Set([1])]]) }], when: new Date(5) };
    const state: Record<string, unknown> = { a: 1, inner };
    const before = structuredClone(state);
    const error = new Error("stop");
    await expect(
      rollback.transaction(state, "break", async () => {
        state["a"] = 2;
        state["b"] = "new";
        inner.deep.push(3);
        await Promise.resolve();
        delete state["inner"];
        throw error;
      }),
    ).rejects.toBe(error);
    expect(state).toEqual(before);
    expect(rollback.pending(state)).toEqual([]);
  });

  it("keeps what was done until it is confirmed, and takes back the last of it first", async () => {
    const rollback = createRollback();
    const state = { n: 0 };
    for (const operation of ["one", "two", "three"]) {
      const value = await rollback.transaction(state, operation, () => {
        state.n += 1;
        return state.n * 10;
      });
      expect(value).toBe(state.n * 10);
    }
    expect(rollback.pending(state)).toEqual(["one", "two", "three"]);
    expect([rollback.rollbackLast(state), state.n]).toEqual(["three", 2]);
    expect([rollback.rollbackLast(state), state.n]).toEqual(["two", 1]);
    expect(rollback.confirm(state)).toBe(1);
    expect([rollback.rollbackLast(state), state.n]).toEqual([null, 1]);
    expect(rollback.rollbackLast({})).toBeNull();
  });

  it("works on Maps, Sets and arrays in place, so that whoever holds one sees it", () => {
    const rollback = createRollback();
    const map = new Map<string, unknown>([["a", { n: 1 }]]);
    const set = new Set([1]);
    const list = [1, 2];
    rollback.transactionSync(map, "m", () => map.set("a", 2).set("b", 3));
    rollback.transactionSync(set, "s", () => set.add(2));
    rollback.transactionSync(list, "l", () => list.splice(0, 2, 9));
    for (const state of [map, set, list]) rollback.rollbackLast(state);
    expect([map, set, list]).toEqual([new Map([["a", { n: 1 }]]), new Set([1]), [1, 2]]);
  });

  it("one inside another belongs to it", async () => {
    const rollback = createRollback();
    const state = { log: [] as string[] };
    await rollback.transaction(state, "outer", async () => {
      state.log.push("a");
      await expect(
        rollback.transaction(state, "inner", () => {
          state.log.push("b");
          throw new Error("inner");
        }),
      ).rejects.toThrow("inner");
      expect(state.log).toEqual(["a"]);
      await rollback.transaction(state, "second", () => state.log.push("c"));
    });
    expect(rollback.pending(state)).toEqual(["second", "outer"]);
    await expect(
      rollback.transaction(state, "failing", async () => {
        await rollback.transaction(state, "part", () => state.log.push("d"));
        throw new Error("outer");
      }),
    ).rejects.toThrow("outer");
    expect(rollback.pending(state)).toEqual(["second", "outer"]);
    expect(state.log).toEqual(["a", "c"]);
  });

  it("runs operations on one state one after the other, and those on two states beside each other", async () => {
    const rollback = createRollback();
    const [one, two] = [{ n: 0 }, { n: 0 }];
    const order: string[] = [];
    const add = (state: { n: number }, name: string) =>
      rollback.transaction(state, name, async () => {
        const { n } = state;
        await new Promise((resolve) => setTimeout(resolve, 2));
        state.n = n + 1;
        order.push(name);
        if (name.endsWith("!")) throw new Error(name);
      });
    await Promise.allSettled([add(one, "a"), add(one, "b!"), add(one, "c"), add(two, "x")]);
    expect([one.n, two.n]).toEqual([2, 1]);
    expect(order.indexOf("x")).toBeLessThan(order.indexOf("c"));
  });

  it("refuses to be mixed up with one that is under way", async () => {
    const rollback = createRollback();
    const state = { n: 0 };
    let go: () => void = () => undefined;
    const running = rollback.transaction(state, "slow", () => new Promise<void>((resolve) => (go = resolve)));
    await Promise.resolve();
    expect(() => rollback.rollbackLast(state)).toThrow(busy);
    expect(() => rollback.transactionSync(state, "now", () => 1)).toThrow(busy);
    go();
    await running;
    expect(rollback.rollbackLast(state)).toBe("slow");
  });

  it("refuses a promise where it cannot wait, with nothing changed", () => {
    const rollback = createRollback();
    const state = { n: 0 };
    const work = () =>
      rollback.transactionSync(state, "later", async () => {
        state.n = 1;
      });
    expect(work).toThrow(expect.objectContaining({ code: "BELAY_TRANSACTION_ASYNC" }));
    expect(state.n).toBe(0);
    expect(rollback.pending(state)).toEqual([]);
  });

  it("does nothing to a state that could not be put back", async () => {
    class Account {
      balance = 0;
    }
    const rollback = createRollback();
    let ran = 0;
    const states: object[] = [
      { f: () => 1 },
      { account: new Account() },
      new Account(),
      {
        get n() {
          return 1;
        },
      },
      { [Symbol("s")]: 1 },
      Object.create(null) as object,
      { inner: Object.freeze({ n: 1 }) },
      { weak: new WeakMap() },
    ];
    for (const state of states) {
      await expect(rollback.transaction(state, "x", () => (ran += 1))).rejects.toThrow(invalid);
    }
    expect(ran).toBe(0);
  });

  it("forgets the oldest operations above its limit", () => {
    const rollback = createRollback({ snapshotsMax: 2 });
    const state = { n: 0 };
    for (const name of ["a", "b", "c"]) rollback.transactionSync(state, name, () => (state.n += 1));
    expect(rollback.pending(state)).toEqual(["b", "c"]);
    expect(() => createRollback({ snapshotsMax: 0 })).toThrow(/whole number/);
  });

  it("after any history of successes, failures and rollbacks is where the successes left it", async () => {
    const command = fc.record({ kind: fc.constantFrom("ok", "fail", "back"), value: fc.jsonValue() });
    await fc.assert(
      fc.asyncProperty(fc.array(command, { maxLength: 20 }), async (commands) => {
        const rollback = createRollback();
        const state: { list: unknown[] } = { list: [] };
        const model: unknown[] = [];
        for (const { kind, value } of commands) {
          if (kind === "back") {
            expect(rollback.rollbackLast(state) === null).toBe(model.length === 0);
            model.pop();
            continue;
          }
          const copy = structuredClone(value);
          await rollback
            .transaction(state, "op", () => {
              state.list.push(copy);
              if (kind === "fail") throw new Error("no");
            })
            .catch(() => undefined);
          if (kind === "ok") model.push(copy);
        }
        expect(state.list).toEqual(model);
      }),
    );
  });
});
