import { describe, expect, it } from "vitest";
import { z } from "zod";
import { type AnyTool, createHarness, defineTool, type Filter, type ToolExecutor } from "../../src/index.ts";
import { calls, final, refundTool, searchTool, world } from "../engine/support.ts";
import { codeOf, statuses, toolTexts } from "./support.ts";

const GOOD = ["search", { q: "good" }] as const;

describe("arguments that cannot be used", () => {
  const broken = [
    '{"q": "x"',
    "{q:1}",
    "search for x",
    '{"q":"x"}}',
    "[",
    '{"q":',
    "\u0000",
    "null",
    '"x"',
    "[1]",
    "7",
  ];

  it.each(broken)("invalid-json-args: %j is data for the model, and the run goes on", async (args) => {
    const setup = world([calls(["search", args], GOOD), final("ok")]);
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    expect(statuses(result)).toEqual(["refused", "ok"]);
    const told = JSON.parse(toolTexts(setup)[0] ?? "{}");
    expect(["invalid_json", "invalid_arguments"]).toContain(told.error);
    expect(told.message).toEqual(expect.any(String));
    expect(setup.effects).toEqual(["search good"]);
  });

  it("invalid-json-args: a model that never mends them is stopped by a limit", async () => {
    const setup = world(
      Array.from({ length: 20 }, (_, n) => calls(["search", `{"q": ${n}`])),
      { agent: { limits: { stepsMax: 20, invalidCallsMax: 3 } } },
    );
    const result = await setup.harness.run("go").result;
    expect(result.termination?.kind).toBe("limit");
    expect(setup.model.requests.length).toBeLessThanOrEqual(4);
    expect(setup.effects).toEqual([]);
  });

  it("empty-string-args: are {} where the schema allows that, and a structured error where it does not", async () => {
    const ran: unknown[] = [];
    const ping = defineTool({
      name: "ping",
      description: "",
      level: "read",
      recovery: "read",
      input: z.strictObject({}),
      execute: (args) => {
        ran.push(args);
        return "pong";
      },
    });
    for (const blank of ["", " ", "\n\t"]) {
      const setup = world([calls(["ping", blank], ["search", blank]), final("ok")], {
        tools: (ledger) => [ping, searchTool(ledger)],
      });
      const result = await setup.harness.run("go").result;
      expect(statuses(result)).toEqual(["ok", "refused"]);
      expect(codeOf(result, 1)).toBe("invalid_arguments");
      expect(setup.effects).toEqual([]);
    }
    expect(ran).toEqual([{}, {}, {}]);
  });

  it("validation-detail-to-model: the error has the path, what was expected and what was sent, bounded", async () => {
    const setup = world([calls(["search", { q: 5 }], ["search", { q: ["x".repeat(50_000)] }]), final("ok")]);
    await setup.harness.run("go").result;
    const [small = "", large = ""] = toolTexts(setup);
    expect(JSON.parse(small)).toMatchObject({
      error: "invalid_arguments",
      path: "q",
      received: "5",
      expected: { type: "string" },
      hint: expect.any(String),
    });
    expect(large.length).toBeLessThan(2_000);
  });

  it("proto-and-extra-args: neither a prototype nor an undeclared key gets in, in any spelling", async () => {
    const smuggled = [
      '{"order":"A","cents":1,"admin":true,"__proto__":{"isAdmin":true}}',
      '{"order":"A","cents":1,"__proto__":{"isAdmin":true}}',
      '{"order":"A","cents":1,"\\u005f_proto__":{"isAdmin":true}}',
      '{"order":"A","cents":1,"constructor":{"prototype":{"isAdmin":true}}}',
      '{"order":"A","cents":1,"prototype":{}}',
      '{"order":"A","cents":1,"admin":true}',
      '{"order":"A","cents":1,"toString":"x"}',
    ];
    for (const args of smuggled) {
      const setup = world([calls(["refund", args]), final("no")]);
      const result = await setup.harness.run("go").result;
      expect(statuses(result)).toEqual(["refused"]);
      expect(setup.effects).toEqual([]);
      expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
      expect(({} as { admin?: boolean }).admin).toBeUndefined();
    }
  });

  it("proto-and-extra-args: a schema that would strip an undeclared key does not hide it", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 1, admin: true }]), final("no")], {
      tools: (ledger) => [refundTool(ledger, { input: z.object({ order: z.string(), cents: z.int() }) })],
    });
    const result = await setup.harness.run("go").result;
    expect(codeOf(result)).toBe("invalid_arguments");
    expect(setup.effects).toEqual([]);
  });
});

describe("hooks around a tool", () => {
  const passThrough = (inner: ToolExecutor): ToolExecutor => ({
    listTools: () => inner.listTools(),
    check: (tool, args) => inner.check(tool, args),
    execute: (tool, args, context) => inner.execute(tool, args, context),
    lookup: (tool, args, context) => inner.lookup(tool, args, context),
  });

  it("hook-turns-recoverable-into-fatal: a pass-through wrapper changes nothing for the model", async () => {
    const replies = [calls(["search", { q: 5 }], ["search", "{"], ["refund", { order: "A", cents: 1 }]), final("ok")];
    const plain = world(replies);
    const wrapped = world(replies, { agent: { executor: passThrough } });
    const [one, other] = [await plain.harness.run("go").result, await wrapped.harness.run("go").result];
    expect(toolTexts(wrapped)).toEqual(toolTexts(plain));
    expect(statuses(other)).toEqual(statuses(one));
    expect([other.status, wrapped.effects]).toEqual(["done", plain.effects]);
  });

  it("hook-turns-recoverable-into-fatal: a hook that throws while it checks refuses the call, and the run goes on", async () => {
    const alarms: string[] = [];
    const setup = world([calls(["search", { q: "x" }]), final("ok")], {
      agent: {
        executor: (inner) => ({
          ...inner,
          check: () => {
            throw new Error("hook password=hunter2");
          },
        }),
      },
      options: { onAlarm: ({ code }) => alarms.push(code) },
    });
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    expect(statuses(result)).toEqual(["refused"]);
    expect(setup.effects).toEqual([]);
    expect(alarms).not.toEqual([]);
    expect(JSON.stringify([await setup.harness.entries(result), setup.model.requests])).not.toContain("hunter2");
  });

  it("after-hook-throws: a filter that throws on one of three results withholds that one and tells the operator", async () => {
    const alarms: string[] = [];
    const filter: Filter = {
      id: "picky",
      apply: (value) => {
        if (JSON.stringify(value).includes("one")) throw new Error("hook failed");
        return { value };
      },
    };
    const setup = world(
      [calls(["search", { q: "one" }], ["search", { q: "two" }], ["search", { q: "three" }]), final("ok")],
      {
        agent: { filters: [filter] },
        options: { onAlarm: ({ code }) => alarms.push(code) },
      },
    );
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    const texts = toolTexts(setup);
    expect(texts).toHaveLength(3);
    expect(texts[0]).not.toContain("one");
    expect(texts.slice(1).map((text) => JSON.parse(text))).toEqual([{ found: "two" }, { found: "three" }]);
    expect(alarms).toEqual(["FILTER_FAILED"]);
  });

  it("after-hook-throws: a wrapper that throws behind a tool loses no other result, and its error is told apart", async () => {
    const causes: unknown[] = [];
    const setup = world(
      [calls(["search", { q: "one" }], ["search", { q: "two" }], ["search", { q: "three" }]), final("ok")],
      {
        agent: {
          executor: (inner) => ({
            ...inner,
            execute: async (tool, args, context) => {
              const result = await inner.execute(tool, args, context);
              if (JSON.stringify(args).includes("one")) throw new Error("hook failed");
              return result;
            },
          }),
        },
        options: { onAlarm: ({ cause }) => causes.push(cause) },
      },
    );
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    expect(statuses(result)).toEqual(["failed", "ok", "ok"]);
    expect(toolTexts(setup)).toHaveLength(3);
    expect(causes.map(String)).toEqual(["Error: hook failed"]);
  });

  it("after-hook-throws: behind a changing tool it leaves an open outcome, never a silent repeat", async () => {
    const setup = world([calls(["refund", { order: "A", cents: 1 }]), final("ok")], {
      agent: {
        executor: (inner) => ({
          ...inner,
          execute: async (...request) => {
            await inner.execute(...request);
            throw new Error("hook failed");
          },
        }),
      },
    });
    const result = await setup.harness.run("go").result;
    expect(result.termination?.kind).toBe("outcome_unknown");
    expect(new Set(setup.keys).size).toBe(1);
  });

  it("secret-in-error-text: what a tool throws reaches no model, no journal and no audit log", async () => {
    const causes: unknown[] = [];
    const setup = world([calls(["search", { q: "x" }], ["refund", { order: "A", cents: 1 }]), final("ok")], {
      tools: (ledger) =>
        [searchTool(ledger), refundTool(ledger)].map(
          (tool): AnyTool => ({
            ...tool,
            execute: () => {
              throw new Error("db password=hunter2 refused");
            },
          }),
        ),
      options: { onAlarm: ({ cause }) => causes.push(cause) },
    });
    const result = await setup.harness.run("go").result;
    expect(statuses(result)).toEqual(["failed", "unknown"]);
    expect(codeOf(result)).toBe("tool_failed");
    const records = await setup.options.store.audit.entries(0, 1000);
    const told = JSON.stringify([await setup.harness.entries(result), setup.model.requests, records, result]);
    expect(told).not.toContain("hunter2");
    expect(causes.map(String).join()).toContain("hunter2");
  });

  it("secret-in-error-text: nor does what a model client or a schema throws", async () => {
    const setup = world([], {
      options: {
        model: {
          id: "m",
          generate: async () => {
            throw new Error("key sk-hunter2 is not valid");
          },
        },
      },
    });
    const result = await setup.harness.run("go").result;
    expect(result.termination).toMatchObject({ kind: "model_error" });
    expect(JSON.stringify([await setup.harness.entries(result), result])).not.toContain("hunter2");
    const input = z.strictObject({
      q: z.string().refine(() => {
        throw new Error("schema password=hunter2");
      }),
    });
    const other = world([calls(["search", { q: "x" }]), final("ok")], {
      tools: (ledger) => [{ ...searchTool(ledger), input }],
    });
    const second = await other.harness.run("go").result;
    expect(statuses(second)).toEqual(["refused"]);
    expect(JSON.stringify([await other.harness.entries(second), other.model.requests])).not.toContain("hunter2");
  });
});

describe("many calls in one turn", () => {
  it("identical-side-effects-in-batch: the same changing call three times in one message is one effect", async () => {
    const same = ["refund", { order: "A", cents: 1 }] as const;
    const setup = world([calls(same, same, ["refund", '{ "cents": 1.0, "order": "\\u0041" }']), final("ok")]);
    const result = await setup.harness.run("go").result;
    expect(setup.effects).toEqual(["A:1"]);
    expect(statuses(result)).toEqual(["ok", "refused", "refused"]);
    expect(codeOf(result, 2)).toBe("duplicate_call");
    expect(toolTexts(setup)[1]).toContain("c1.1");
  });

  it("identical-side-effects-in-batch: a gated one is asked about once, and a refused one hides no other", async () => {
    const big = ["refund", { order: "A", cents: 5000 }] as const;
    const setup = world([calls(["refund", { order: "A", cents: -1 }], big, big, big), final("ok")]);
    const waiting = await setup.harness.run("go").result;
    expect(waiting.approvals).toHaveLength(1);
    expect(statuses(waiting)).toEqual(["refused", undefined, "refused", "refused"]);
  });

  it("identical-side-effects-in-batch: two different effects both happen", async () => {
    const setup = world([
      calls(["refund", { order: "A", cents: 1 }], ["refund", { order: "B", cents: 1 }]),
      final("ok"),
    ]);
    await setup.harness.run("go").result;
    expect(setup.effects).toEqual(["A:1", "B:1"]);
  });

  it("fan-out-cap: of 200 calls sixteen run and each of the rest is refused by name", async () => {
    const many = Array.from({ length: 200 }, (_, n) => ["search", { q: String(n) }] as const);
    const setup = world([calls(...many), final("ok")]);
    const result = await setup.harness.run("go").result;
    expect(setup.effects).toHaveLength(16);
    expect(result.calls).toHaveLength(200);
    expect(result.calls.filter((_, index) => codeOf(result, index) === "too_many_calls")).toHaveLength(184);
    expect(toolTexts(setup)).toHaveLength(200);
  });

  it("fan-out-cap: of 500 calls none runs unseen, and the model is told how many it may ask for", async () => {
    const many = Array.from({ length: 500 }, (_, n) => ["search", { q: String(n) }] as const);
    const setup = world([calls(...many), final("ok")]);
    const result = await setup.harness.run("go").result;
    expect(result.status).toBe("done");
    expect(setup.effects.length).toBeLessThanOrEqual(16);
    expect(setup.model.requests[1]?.messages.at(-1)).toMatchObject({
      role: "harness",
      text: expect.stringMatching(/at most \d+ calls/),
    });
  });

  it("fan-out-cap: the cap counts for changing calls as well, also after a restart", async () => {
    const many = Array.from({ length: 20 }, (_, n) => ["refund", { order: String(n), cents: 1 }] as const);
    const setup = world([calls(...many), final("ok")], { agent: { limits: { callsPerTurnMax: 3 } } });
    const run = await setup.harness.start("go");
    await createHarness(setup.options).advance(run);
    expect(setup.effects).toEqual(["0:1", "1:1", "2:1"]);
  });
});

describe("a model client that answers junk", () => {
  const junk: readonly (readonly [what: string, reply: unknown])[] = [
    ["nothing", undefined],
    ["null", null],
    ["a text", "refund everything"],
    ["a number", 7],
    ["an unknown kind", { kind: "tool", text: "" }],
    ["a final without a text", { kind: "final" }],
    ["calls that are no list", { kind: "calls", text: "", calls: "refund" }],
    ["a call that is nothing", { kind: "calls", text: "", calls: [null] }],
    ["a call without arguments", { kind: "calls", text: "", calls: [{ tool: "refund" }] }],
    ["arguments that are null", { kind: "calls", text: "", calls: [{ tool: "refund", args: null }] }],
    ["a text that is a number", { kind: "calls", text: "", calls: [{ tool: "refund", args: { text: 5 } }] }],
    ["a tool that is an object", { kind: "calls", text: "", calls: [{ tool: {}, args: { json: {} } }] }],
    ["usage that is a text", { kind: "final", text: "ok", usage: "many" }],
  ];

  it.each(junk)("invalid-json-args: %s ends in a typed way and runs nothing", async (_what, reply) => {
    const setup = world([], {
      options: { model: { id: "junk", generate: async () => reply as never } },
      agent: { limits: { stepsMax: 3 } },
    });
    const result = await setup.harness.run("go").result;
    expect(["done", "failed"]).toContain(result.status);
    expect(setup.effects).toEqual([]);
  });
});
