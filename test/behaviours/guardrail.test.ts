import { describe, expect, it } from "vitest";
import { connectMcp, createMcpToolServer } from "../../src/adapters/mcp/index.ts";
import { allow, createToolExecutor, deny, type Rule, type ToolContract, type ToolExecutor } from "../../src/index.ts";
import { hashContract } from "../../src/tool/index.ts";
import { ASK_ABOVE_1000, calls, final, refundTool, searchTool, world } from "../engine/support.ts";
import { codeOf, statuses } from "./support.ts";

const REFUND = ["refund", { order: "A", cents: 1 }] as const;
const later = <Value>(value: Value): Promise<Value> => new Promise((resolve) => setTimeout(() => resolve(value), 30));

describe("a guard", () => {
  it("tool-before-guard-verdict: a changing call waits for the verdict of a slow guard, and does not run when it trips", async () => {
    let ranBefore = -1;
    const slow: Rule = {
      id: "input_guard",
      decide: async (call) => {
        if (call.level === "read") return undefined;
        await later(undefined);
        ranBefore = setup.effects.length;
        return deny("UNSAFE_INPUT", "the input guard tripped");
      },
    };
    const setup = world([calls(REFUND), final("no")], { agent: { rules: [slow, ASK_ABOVE_1000] } });
    const result = await setup.harness.run("go").result;
    expect([ranBefore, codeOf(result)]).toEqual([0, "UNSAFE_INPUT"]);
    expect(setup.effects).toEqual([]);
  });

  it("tool-before-guard-verdict: a guard that never answers allows nothing while it is waited for", async () => {
    let isAsked = false;
    const silent: Rule = {
      id: "silent",
      decide: () => {
        isAsked = true;
        return new Promise(() => undefined);
      },
    };
    const setup = world([calls(REFUND), final("no")], { agent: { rules: [silent, ASK_ABOVE_1000] } });
    void setup.harness.run("go").result;
    await expect.poll(() => isAsked).toBe(true);
    await later(undefined);
    expect(setup.effects).toEqual([]);
  });

  it("tool-before-guard-verdict: a later call of the turn does not overtake the one whose verdict is awaited", async () => {
    const order: string[] = [];
    const slowFirst: Rule = {
      id: "slow_first",
      decide: async (call) => {
        const { order: id = "" } = call.args as { order?: string };
        if (id === "A") await later(undefined);
        order.push(id);
        return allow("OK", "");
      },
    };
    const setup = world([calls(REFUND, ["refund", { order: "B", cents: 1 }]), final("ok")], {
      agent: { rules: [slowFirst] },
    });
    await setup.harness.run("go").result;
    expect(order).toEqual(["A", "B"]);
    expect(setup.effects).toEqual(["A:1", "B:1"]);
  });

  const unclear: readonly (readonly [what: string, verdict: unknown])[] = [
    ["{passed: false}", { passed: false }],
    ["{passed: true}", { passed: true }],
    ["false", false],
    ["true", true],
    ["an allow with an extra key", { verdict: "allow", code: "OK", reason: "", passed: false }],
    ["an allow without a reason", { verdict: "allow", code: "OK" }],
    ["an allow with an empty code", { verdict: "allow", code: "", reason: "" }],
    ["ALLOW", { verdict: "ALLOW", code: "OK", reason: "" }],
    ["a list", [{ verdict: "allow", code: "OK", reason: "" }]],
    ["an inherited verdict", Object.create({ verdict: "allow", code: "OK", reason: "" })],
  ];

  it.each(unclear)("detect-without-block: %s is no verdict and blocks", async (_what, verdict) => {
    const setup = world([calls(REFUND, ["search", { q: "x" }]), final("no")], {
      agent: { rules: [{ id: "guard", decide: () => verdict as never }, ASK_ABOVE_1000] },
    });
    const result = await setup.harness.run("go").result;
    expect(result.calls.map(({ decision }) => decision?.code)).toEqual(["POLICY_ERROR", "POLICY_ERROR"]);
    expect(setup.effects).toEqual([]);
  });

  it("guard-result-kept: when the second guard trips, what both found is in the record", async () => {
    const guard = (id: string, verdict: ReturnType<typeof deny> | undefined): Rule => ({
      id,
      decide: (_call, context) => {
        context.read("found", `${id} looked`);
        return verdict;
      },
    });
    const setup = world([calls(REFUND), final("no")], {
      agent: { rules: [guard("first", undefined), guard("second", deny("TRIPPED", "no")), ASK_ABOVE_1000] },
    });
    const result = await setup.harness.run("go").result;
    const decision = JSON.stringify(result.calls[0]?.decision);
    expect(result.calls[0]?.decision).toMatchObject({ verdict: "deny", code: "TRIPPED", ruleId: "second" });
    expect(decision).toContain("second looked");
    expect(decision).toContain("first looked");
  });

  it("mode-overrides-allowlist: no rule and no wish of the model widens the tools that were offered", async () => {
    const setup = world([calls(REFUND, ["search", { q: "x" }]), final("no")], {
      agent: { rules: [{ id: "auto_mode", decide: () => allow("BYPASS", "mode=auto") }] },
    });
    const result = await setup.harness.run("go", { offeredTools: ["search"] }).result;
    expect(statuses(result)).toEqual(["refused", "ok"]);
    expect(codeOf(result)).toBe("tool_not_offered");
    expect(setup.effects).toEqual(["search x"]);
    expect(setup.model.requests[0]?.tools.map(({ name }) => name)).toEqual(["search"]);
  });

  it("mode-overrides-allowlist: an empty offer is no tool at all, and an unknown name is refused at the start", async () => {
    const setup = world([calls(REFUND, ["search", { q: "x" }]), final("no")]);
    const result = await setup.harness.run("go", { offeredTools: [] }).result;
    expect(statuses(result)).toEqual(["refused", "refused"]);
    await expect(setup.harness.run("go", { offeredTools: ["sea"] }).result).rejects.toMatchObject({
      code: "BELAY_TOOL_UNKNOWN",
    });
  });
});

/** An executor that also has a tool which nobody declared. */
function discovering(change: Partial<ToolContract>, ran: string[]) {
  return (inner: ToolExecutor): ToolExecutor => {
    const contract = {
      name: "wipe",
      description: "Found on a server",
      level: "write",
      recovery: "opaque",
      inputSchema: { type: "object" },
      timeoutMs: 1000,
      inTransaction: false,
      untrusted: true,
      ...change,
    } as Omit<ToolContract, "contractHash">;
    const found = { ...contract, contractHash: hashContract(contract) };
    return {
      ...inner,
      listTools: () => [...inner.listTools(), found],
      check: (tool, args) => (tool === found.name ? { ok: true, args } : inner.check(tool, args)),
      execute: (tool, args, context) => {
        if (tool !== found.name) return inner.execute(tool, args, context);
        ran.push(tool);
        return { ok: true, value: null };
      },
    };
  };
}

describe("a tool that is found at run time", () => {
  it("dynamic-tool-gated: runs only when a rule allows it, and is denied when none speaks", async () => {
    for (const [rules, expected] of [
      [[], []],
      [[{ id: "wipe_ok", tools: ["wipe"], decide: () => allow("OK", "") }], ["wipe"]],
    ] as const) {
      const ran: string[] = [];
      const setup = world([calls(["wipe", {}]), final("no")], { agent: { rules, executor: discovering({}, ran) } });
      const result = await setup.harness.run("go").result;
      expect(ran).toEqual(expected);
      expect(result.calls[0]?.decision?.code).toBe(expected.length === 0 ? "NO_RULE" : "OK");
    }
  });

  it("dynamic-tool-gated: one without a class is taken for one that changes things", async () => {
    const ran: string[] = [];
    const unclassified = { level: null, recovery: null } as unknown as Partial<ToolContract>;
    const setup = world([calls(["wipe", {}]), final("no")], {
      agent: { rules: [], executor: discovering(unclassified, ran) },
    });
    const result = await setup.harness.run("go").result;
    expect(ran).toEqual([]);
    expect(result.calls[0]?.decision).toMatchObject({ verdict: "deny", code: "NO_RULE" });
  });

  it("dynamic-tool-gated: one that appears after the agent was built is unknown", async () => {
    const ran: string[] = [];
    let isThere = false;
    const setup = world([calls(["wipe", {}]), final("no")], {
      agent: {
        rules: [{ id: "all", decide: () => allow("OK", "") }],
        executor: (inner) => {
          const with_ = discovering({}, ran)(inner);
          return { ...with_, listTools: () => (isThere ? with_.listTools() : inner.listTools()) };
        },
      },
      tools: (ledger) => [refundTool(ledger), searchTool(ledger)],
    });
    isThere = true;
    const result = await setup.harness.run("go").result;
    expect(codeOf(result)).toBe("unknown_tool");
    expect(ran).toEqual([]);
  });

  it("dynamic-tool-gated: one that a server of somebody else lists is refused or asked about until it has a class", async () => {
    for (const unclassified of ["refuse", "ask"] as const) {
      const ran: string[] = [];
      await using server = createMcpToolServer({
        ...{ name: "stranger", version: "1" },
        executor: createToolExecutor([{ ...searchTool({ effects: ran, keys: [] }), name: "wipe" }]),
      });
      await using executor = await connectMcp({ transport: { kind: "memory", server }, unclassified });
      const setup = world([calls(["wipe", { q: "x" }]), final("no")], {
        agent: { tools: [], rules: [{ id: "all", decide: () => allow("OK", "") }], executor: () => executor },
      });
      const result = await setup.harness.run("go").result;
      expect(ran).toEqual([]);
      if (unclassified === "ask") expect(result.status).toBe("waiting");
      else expect(result.calls[0]?.outcome?.status).toBe("refused");
    }
  });

  it("dynamic-tool-gated: a risky one asks a person whatever the rules allow", async () => {
    const ran: string[] = [];
    const setup = world([calls(["wipe", {}]), final("no")], {
      agent: {
        rules: [{ id: "all", decide: () => allow("OK", "") }],
        executor: discovering({ level: "irreversible", risk: "may_happen_twice_or_unknown" }, ran),
      },
    });
    expect((await setup.harness.run("go").result).status).toBe("waiting");
    expect(ran).toEqual([]);
  });
});

describe("a rule that reads its world", () => {
  it("detect-without-block: a guard that only looks at some tools must name tools that exist", () => {
    const rule: Rule = { id: "guard", tools: ["refnud"], decide: () => deny("NO", "") };
    expect(() => world([], { agent: { rules: [rule] } })).toThrow(/refnud/);
    expect(() => world([], { agent: { rules: [{ id: "guard", tools: [], decide: () => undefined }] } })).toThrow(
      /tool/,
    );
  });
});
