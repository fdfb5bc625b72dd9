import fc from "fast-check";
import { describe, expect, it } from "vitest";
import type { Decision, JsonValue } from "../../src/core/index.ts";
import {
  allow,
  ask,
  type DecideContext,
  decideCall,
  decideCallSync,
  deny,
  halt,
  type Rule,
  type RuleCall,
  type Verdict,
} from "../../src/policy/index.ts";

// Written as a constant, so that no lint takes the objects below for mistakes.
const THEN = "then";

const call: RuleCall = { callId: "c1", tool: "refund", args: { orderId: "A1", cents: 500 }, level: "write" };
const readCall: RuleCall = { ...call, tool: "get_order", level: "read" };
const context: DecideContext = {
  tenant: "default",
  principal: { kind: "customer", id: "u1" },
  runId: "run_1",
  step: 1,
  input: "refund A1",
  memory: [],
  calls: [],
  now: 0,
  recheck: false,
};

function rule(
  id: string,
  decide: (call: RuleCall, context: Parameters<Rule["decide"]>[1]) => unknown,
  tools?: string[],
): Rule {
  return { id, decide: decide as Rule["decide"], ...(tools === undefined ? {} : { tools }) };
}

const yes = rule("yes", () => allow("OK", "fine"));
const error = (ruleId: string) => ({ verdict: "deny", code: "POLICY_ERROR", ruleId });

describe("decideCall", () => {
  it("denies a write that no rule allows and lets a read pass", () => {
    expect(decideCall([], call, context)).toEqual({
      verdict: "deny",
      code: "NO_RULE",
      reason: "no rule allows refund",
      ruleId: "belay.no_rule",
    });
    for (const level of ["admin", "irreversible"] as const) {
      expect(decideCall([], { ...call, level }, context)).toMatchObject({ code: "NO_RULE" });
    }
    expect(decideCall([], readCall, context)).toEqual({
      verdict: "allow",
      code: "OK",
      reason: "read-only",
      ruleId: "belay.read_only",
    });
  });

  it("stops at the first deny or halt, also behind an allow and an ask", () => {
    const asked: string[] = [];
    const noting = (id: string, verdict: Verdict | undefined) =>
      rule(id, () => {
        asked.push(id);
        return verdict;
      });
    const rules = [
      noting("a", allow("A", "")),
      noting("b", ask("B", "")),
      noting("c", undefined),
      noting("d", halt("D", "stop")),
      noting("e", deny("E", "")),
    ];
    expect(decideCall(rules, call, context)).toEqual({ verdict: "halt", code: "D", reason: "stop", ruleId: "d" });
    expect(asked).toEqual(["a", "b", "c", "d"]);
  });

  it("prefers an ask to an allow, and denies reads too", () => {
    expect(decideCall([yes, rule("q", () => ask("BIG", "big"))], call, context)).toMatchObject({
      verdict: "ask",
      ruleId: "q",
    });
    expect(decideCall([rule("n", () => deny("NO", "no"))], readCall, context)).toMatchObject({ code: "NO" });
    expect(decideCall([yes], readCall, context)).toMatchObject({ ruleId: "yes" });
  });

  it("skips rules about other tools, which are not even called", () => {
    const other = rule("other", () => {
      throw new Error("not mine");
    }, ["cancel"]);
    expect(decideCall([other, yes], call, context)).toMatchObject({ ruleId: "yes" });
    expect(decideCall([{ ...yes, tools: ["refund"] }], call, context)).toMatchObject({ ruleId: "yes" });
    expect(decideCall([{ ...yes, tools: [] }], call, context)).toMatchObject({ code: "NO_RULE" });
  });

  it("gate-throws, pol-01, audit-08: a rule that throws or rejects denies, without the exception's text", async () => {
    const seen: unknown[] = [];
    const onError = (ruleId: string, thrown: unknown) => seen.push([ruleId, thrown]);
    const down = new Error("db down, password=hunter2");
    const throwing = rule("gate", () => {
      throw down;
    });
    const rejecting = rule("gate", () => Promise.reject(down));
    for (const bad of [throwing, rejecting]) {
      for (const rules of [[bad], [yes, bad], [bad, yes]]) {
        for (const about of [call, readCall]) {
          const decision = await decideCall(rules, about, context, { onError });
          expect(decision).toMatchObject(error("gate"));
          expect(JSON.stringify(decision)).not.toContain("hunter2");
        }
      }
    }
    expect(seen).toHaveLength(12);
    expect(seen[0]).toEqual(["gate", down]);
    const undefinedContext = rule("cedar", (_call, { memory }) =>
      (memory[9] as never)["amountCents"] > 100 ? deny("X", "") : undefined,
    );
    expect(decideCall([yes, undefinedContext], call, context)).toMatchObject(error("cedar"));
  });

  const trap = {
    code: "OK",
    reason: "",
    get verdict() {
      throw new Error("trap");
    },
  };
  const lying = {
    code: "OK",
    reason: "",
    get verdict() {
      return "allow";
    },
  };
  it.each([
    null,
    true,
    false,
    0,
    1,
    "",
    "allow",
    "deny",
    [],
    ["allow", "OK", "fine"],
    {},
    () => allow("OK", ""),
    Symbol("allow"),
    1n,
    { verdict: "allow" },
    { verdict: "allow", code: "OK" },
    { verdict: "allow", code: "", reason: "" },
    { verdict: "allow", code: 1, reason: "" },
    { verdict: "allow", code: "OK", reason: null },
    { verdict: "Allow", code: "OK", reason: "" },
    { verdict: "permit", code: "OK", reason: "" },
    { verdict: true, code: "OK", reason: "" },
    { verdict: ["allow"], code: "OK", reason: "" },
    { verdict: "allow", code: "OK", reason: "", unless: "weekend" },
    { verdict: "allow", code: "OK", reason: "", [Symbol("x")]: 1 },
    { kind: "allow", code: "OK", reason: "" },
    Object.create(allow("OK", "inherited")),
    new Error("allow"),
    trap,
    lying,
    new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("trap");
        },
      },
    ),
  ])("takes junk for a denial: case %#", async (junk) => {
    for (const rules of [
      [rule("junk", () => junk)],
      [yes, rule("junk", () => junk)],
      [rule("junk", () => junk), yes],
    ]) {
      expect(decideCall(rules, call, context)).toMatchObject(error("junk"));
      expect(decideCall(rules, readCall, context)).toMatchObject(error("junk"));
      expect(decideCallSync(rules, call, context)).toMatchObject(error("junk"));
    }
    expect(await decideCall([yes, rule("junk", async () => junk)], call, context)).toMatchObject(error("junk"));
  });

  it("is not fooled by a promise with a then of its own", async () => {
    const odd = Object.assign(Promise.resolve(deny("NO", "no")), {
      [THEN]: () => ({ ...allow("OK", ""), ruleId: "odd" }),
    });
    const decision = Promise.race([
      decideCall([rule("odd", () => odd)], call, context),
      new Promise((resolve) => setImmediate(() => resolve("pending"))),
    ]);
    expect(await decision).toBe("pending");
    const trapped = rule("trap", () =>
      Object.defineProperty({}, THEN, {
        get() {
          throw new Error("x");
        },
      }),
    );
    expect(decideCall([yes, trapped], call, context)).toMatchObject(error("trap"));
  });

  it("answers at once as long as the rules do, and in order when one does not", async () => {
    expect(decideCall([yes], call, context)).not.toBeInstanceOf(Promise);
    const order: string[] = [];
    const slow = rule("slow", async () => {
      order.push("slow");
      await null;
      order.push("slow done");
      return undefined;
    });
    const last = rule("last", () => {
      order.push("last");
      return deny("NO", "no");
    });
    const decision = decideCall([slow, last], call, context);
    expect(decision).toBeInstanceOf(Promise);
    expect(await decision).toMatchObject({ code: "NO" });
    expect(order).toEqual(["slow", "slow done", "last"]);
  });

  it("gives rules frozen arguments that are not the recorded ones", () => {
    const args = { lines: [{ cents: 5 }] };
    const mutate = (change: (call: RuleCall) => void) =>
      decideCall(
        [
          rule("bad", (given) => {
            change(given);
            return allow("OK", "");
          }),
        ],
        { ...call, args },
        context,
      );
    expect(
      mutate(({ args: given }) => {
        (given as typeof args).lines[0] = { cents: 1 };
      }),
    ).toMatchObject(error("bad"));
    expect(
      mutate(({ args: given }) => {
        Object.assign((given as typeof args).lines[0] ?? {}, { cents: 1 });
      }),
    ).toMatchObject(error("bad"));
    expect(
      mutate((given) => {
        Object.assign(given, { level: "read" });
      }),
    ).toMatchObject(error("bad"));
    expect(args).toEqual({ lines: [{ cents: 5 }] });
    const calls = rule("bad", (_call, given) => {
      (given.calls as unknown[]).push(1);
      return allow("OK", "");
    });
    expect(decideCall([calls], call, context)).toMatchObject(error("bad"));
    expect(context.calls).toEqual([]);
  });

  it("denies arguments that are no JSON", () => {
    expect(decideCall([yes], { ...call, args: { cents: Number.NaN } }, context)).toMatchObject({
      code: "POLICY_ERROR",
    });
    expect(decideCallSync([yes], { ...call, args: 1n as never }, context)).toMatchObject({ code: "POLICY_ERROR" });
  });

  it("makes codes and reasons well-formed, since they are recorded", () => {
    expect(decideCall([rule("r", () => deny("A\ud800", "b\udc00"))], call, context)).toMatchObject({
      code: "A\ufffd",
      reason: "b\ufffd",
    });
  });
});

describe("what a rule read", () => {
  function readsOf(decide: Parameters<typeof rule>[1]): JsonValue | undefined {
    return decideCallSync([rule("r", decide)], call, context).reads;
  }

  it("is recorded with the decision, that of the rules before the deciding one too", () => {
    const rules = [
      rule("first", (_call, { read }) => {
        read("stock", 7);
        return allow("OK", "");
      }),
      rule("second", (_call, { read }) => (read("order", { cents: 900 }).cents > 100 ? deny("NO", "no") : undefined)),
    ];
    expect(decideCall(rules, call, context)).toEqual({
      ...deny("NO", "no"),
      ruleId: "second",
      reads: { stock: 7, order: { cents: 900 } },
    });
    expect(decideCall([yes], call, context)).not.toHaveProperty("reads");
  });

  it("is kept for a rule that fails after reading", () => {
    const failing = rule("r", (_call, { read }) => {
      read("order", 1);
      throw new Error("x");
    });
    expect(decideCall([failing], call, context)).toMatchObject({ code: "POLICY_ERROR", reads: { order: 1 } });
  });

  it("is a copy taken at once, and a second read does not replace the first", () => {
    const order = { cents: 1 };
    expect(
      readsOf((_call, { read }) => {
        read("order", order);
        order.cents = 2;
        read("order", order);
        order.cents = 3;
        return allow("OK", "");
      }),
    ).toEqual({ order: { cents: 1 }, "order#2": { cents: 2 } });
  });

  it("is bounded and plain", () => {
    expect(
      readsOf((_call, { read }) => {
        read("rows", "x".repeat(2_000));
        return allow("OK", "");
      }),
    ).toEqual({ omitted: "1 read(s): 2011 characters, 2000 are kept" });
    expect(
      readsOf((_call, { read }) => {
        read("id", 1n as never);
        return allow("OK", "");
      }),
    ).toEqual({ id: { omitted: "not JSON: bigint is not a JSON value" } });
    expect(
      readsOf((_call, { read }) => {
        read("__proto__", { isAdmin: true });
        return allow("OK", "");
      }),
    ).toHaveProperty("omitted");
  });
});

describe("decideCallSync", () => {
  it("takes a promise for a denial, and its rejection harms nobody", async () => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", listen);
    expect(decideCallSync([yes, rule("later", async () => allow("OK", ""))], call, context)).toMatchObject(
      error("later"),
    );
    expect(decideCallSync([rule("later", () => Promise.reject(new Error("x"))), yes], call, context)).toMatchObject(
      error("later"),
    );
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });
});

describe("decideCall against an oracle", () => {
  type Spoken = "allow" | "deny" | "ask" | "halt" | "silent" | "throws" | "junk" | "other tool";
  const spoken = fc.constantFrom<Spoken>("allow", "deny", "ask", "halt", "silent", "throws", "junk", "other tool");

  function answer(said: Spoken): unknown {
    switch (said) {
      case "silent":
        return undefined;
      case "throws":
        throw new Error("x");
      case "junk":
        return { verdict: "allow" };
      default:
        return { verdict: said === "other tool" ? "deny" : said, code: "C", reason: "r" };
    }
  }

  /** Written from the sentence in the design, not from the code. */
  function oracle(list: readonly Spoken[], level: "read" | "write"): string {
    const final = list.findIndex((said) => ["deny", "halt", "throws", "junk"].includes(said));
    if (final >= 0) {
      return `${list[final] === "halt" ? "halt" : "deny"} ${["throws", "junk"].includes(list[final] ?? "") ? "POLICY_ERROR" : "C"} r${final}`;
    }
    for (const kind of ["ask", "allow"] as const) {
      if (list.includes(kind)) {
        return `${kind} C r${list.indexOf(kind)}`;
      }
    }
    return level === "read" ? "allow OK belay.read_only" : "deny NO_RULE belay.no_rule";
  }

  it("agrees for any list of rules, with promises and without", async () => {
    const lists = fc.array(fc.record({ said: spoken, later: fc.boolean() }), { maxLength: 8 });
    await fc.assert(
      fc.asyncProperty(lists, fc.constantFrom("read" as const, "write" as const), async (list, level) => {
        const about = { ...call, level };
        const said = list.map((one) => one.said);
        const make = (later: boolean) =>
          list.map((one, index) =>
            rule(
              `r${index}`,
              later && one.later ? async () => answer(one.said) : () => answer(one.said),
              one.said === "other tool" ? ["cancel"] : undefined,
            ),
          );
        const shown = ({ verdict, code, ruleId }: Decision) => `${verdict} ${code} ${ruleId}`;
        expect(shown(await decideCall(make(true), about, context))).toBe(oracle(said, level));
        expect(shown(decideCallSync(make(false), about, context))).toBe(oracle(said, level));
        const atOnce = decideCall(make(false), about, context);
        expect(atOnce).not.toBeInstanceOf(Promise);
      }),
      { numRuns: 500 },
    );
  });
});
