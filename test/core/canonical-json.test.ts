import { runInNewContext } from "node:vm";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { canonicalize, canonicalizeChecked, type JsonValue } from "../../src/core/canonical-json.ts";

function textOf(value: unknown): string {
  const result = canonicalize(value);
  if (!result.ok) {
    throw new Error(`${result.path}: ${result.problem}`);
  }
  return result.text;
}

function refusalOf(value: unknown): { path: string; problem: string } {
  const result = canonicalize(value);
  return result.ok ? { path: "", problem: `accepted as ${result.text}` } : result;
}

function doubleOf(bits: string): number {
  return Buffer.from(bits, "hex").readDoubleBE();
}

/** Sorted by the most literal reading of RFC 8785, to hold the fast encoder against. */
function naive(value: unknown): string {
  if (Array.isArray(value)) {
    return `[${value.map(naive).join(",")}]`;
  }
  if (typeof value === "object" && value !== null) {
    const entries = Object.entries(value).sort(([one], [other]) => {
      for (let index = 0; index < Math.min(one.length, other.length); index += 1) {
        if (one.charCodeAt(index) !== other.charCodeAt(index)) {
          return one.charCodeAt(index) - other.charCodeAt(index);
        }
      }
      return one.length - other.length;
    });
    return `{${entries.map(([key, item]) => `${JSON.stringify(key)}:${naive(item)}`).join(",")}}`;
  }
  return JSON.stringify(value);
}

const wellFormedJson = fc.jsonValue({ maxDepth: 6, stringUnit: "binary" });

describe("the examples of RFC 8785", () => {
  it("encodes the sample of section 3.2.2", () => {
    const sample = JSON.parse(
      '{"numbers":[333333333.33333329,1E30,4.50,2e-3,0.000000000000000000000000001],' +
        '"string":"\\u20ac$\\u000F\\u000aA\'\\u0042\\u0022\\u005c\\\\\\"\\/","literals":[null,true,false]}',
    );
    expect(textOf(sample)).toBe(
      '{"literals":[null,true,false],"numbers":[333333333.3333333,1e+30,4.5,0.002,1e-27],' +
        '"string":"€$\\u000f\\nA\'B\\"\\\\\\\\\\"/"}',
    );
  });

  it("sorts keys by UTF-16 code units as in section 3.2.3", () => {
    const sample = { "\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\u{1f600}": 5, "\u0080": 6, "\u00f6": 7 };
    expect(textOf(sample)).toBe('{"\\r":2,"1":4,"\u0080":6,"\u00f6":7,"\u20ac":1,"\u{1f600}":5,"\ufb33":3}');
  });

  it.each([
    ["0000000000000000", "0"],
    ["8000000000000000", "0"],
    ["0000000000000001", "5e-324"],
    ["7fefffffffffffff", "1.7976931348623157e+308"],
    ["4340000000000000", "9007199254740992"],
    ["4430000000000000", "295147905179352830000"],
    ["44b52d02c7e14af5", "9.999999999999997e+22"],
    ["44b52d02c7e14af6", "1e+23"],
    ["444b1ae4d6e2ef4f", "999999999999999900000"],
    ["444b1ae4d6e2ef50", "1e+21"],
    ["3eb0c6f7a0b5ed8c", "9.999999999999997e-7"],
    ["3eb0c6f7a0b5ed8d", "0.000001"],
    ["41b3de4355555555", "333333333.3333333"],
  ])("writes the number %s of appendix B as %s", (bits, expected) => {
    expect(textOf(doubleOf(bits))).toBe(expected);
  });
});

describe("equal values", () => {
  it("have one text whatever the order of keys and the spelling of numbers", () => {
    expect(textOf(JSON.parse('{"b":2,"a":1.0}'))).toBe(textOf({ a: 1, b: 2 }));
    expect(textOf([-0, 1e21, 10])).toBe("[0,1e+21,10]");
  });

  it("agree with a literal reading of the standard, and survive parsing", () => {
    fc.assert(
      fc.property(wellFormedJson, (value) => {
        const text = textOf(value);
        expect(text).toBe(naive(value));
        expect(textOf(JSON.parse(text))).toBe(text);
      }),
    );
  });

  it("keeps a key named __proto__, a prototype-free object and a toJSON that is only data", () => {
    expect(textOf(JSON.parse('{"__proto__":{"a":1}}'))).toBe('{"__proto__":{"a":1}}');
    expect(textOf(Object.assign(Object.create(null), { b: 1, a: [] }))).toBe('{"a":[],"b":1}');
    expect(textOf({ toJSON: "text" })).toBe('{"toJSON":"text"}');
  });

  it("takes plain data of another realm", () => {
    expect(textOf(runInNewContext("({ b: [1], a: {} })"))).toBe('{"a":{},"b":[1]}');
  });

  it("takes a shared value that is not a cycle", () => {
    const shared = { a: 1 };
    expect(textOf([shared, shared])).toBe('[{"a":1},{"a":1}]');
  });
});

describe("what JSON cannot hold", () => {
  class Money {
    readonly amount: number = 1;
  }
  class List extends Array {}
  const sparse = [1, 2, 3];
  delete sparse[1];
  const named = Object.assign([1], { label: "x" });
  const hidden = Object.defineProperty({ a: 1 }, "b", { value: 2, enumerable: false });
  const accessorItem = Object.defineProperty([1], 0, { get: () => 2 });

  it.each<[string, unknown, string, RegExp]>([
    ["undefined", undefined, "$", /undefined/],
    ["an undefined property", { a: { b: undefined } }, "$.a.b", /undefined/],
    ["an undefined item", [undefined], "$[0]", /undefined/],
    ["a function", { run: () => 1 }, "$.run", /function/],
    ["a symbol", [Symbol("x")], "$[0]", /symbol/],
    ["a bigint", { amount: 1n }, "$.amount", /bigint/],
    ["NaN", [1, Number.NaN], "$[1]", /NaN/],
    ["Infinity", { a: Number.NEGATIVE_INFINITY }, "$.a", /-Infinity/],
    ["a lone surrogate", { "odd key": "\ud800" }, '$["odd key"]', /surrogate/],
    ["a lone surrogate in a key", { "\udfff": 1 }, '$["\\udfff"]', /surrogate/],
    ["a hole", sparse, "$[1]", /hole/],
    ["a huge empty array", new Array(4_000_000_000), "$[0]", /hole/],
    ["a named property of an array", { list: named }, "$.list", /named/],
    ["a subclass of Array", List.from([1]), "$", /subclass/],
    ["a Date", { at: new Date(0) }, "$.at", /Date/],
    ["a Map", new Map(), "$", /Map/],
    ["a boxed number", [Object(1)], "$[0]", /Number/],
    ["a class instance", { price: new Money() }, "$.price", /Money/],
    ["an object with toJSON", { a: { toJSON: () => 1 } }, "$.a.toJSON", /toJSON/],
    ["a symbol key", { [Symbol("x")]: 1 }, "$", /symbol/],
    ["a symbol key of an array", Object.assign([], { [Symbol("x")]: 1 }), "$", /symbol/],
    ["a hidden property", hidden, "$.b", /hidden/],
    [
      "an accessor",
      {
        get amount(): number {
          return 1;
        },
      },
      "$.amount",
      /accessor/,
    ],
    ["an accessor in an array", accessorItem, "$[0]", /accessor/],
  ])("refuses %s and says where", (_name, value, path, problem) => {
    const refusal = refusalOf(value);
    expect(refusal.path).toBe(path);
    expect(refusal.problem).toMatch(problem);
  });

  it("takes 64 containers inside each other and refuses 65", () => {
    const nest = (depth: number): unknown => JSON.parse("[".repeat(depth) + "]".repeat(depth));
    expect(textOf(nest(64))).toBe("[".repeat(64) + "]".repeat(64));
    expect(refusalOf(nest(65)).problem).toMatch(/64/);
    expect(refusalOf(nest(50_000)).path).toBe(`$${"[0]".repeat(64)}`);
  });

  it("names the place where a cycle closes", () => {
    const outer: { items: unknown[] } = { items: [1] };
    const inner = { parent: outer.items };
    outer.items.push(inner);
    expect(refusalOf(outer)).toMatchObject({ path: "$.items[1].parent", problem: expect.stringMatching(/itself/) });
    const self: unknown[] = [];
    self.push(self);
    expect(refusalOf(self).path).toBe("$[0]");
  });

  it("turns a Proxy that throws into a refusal", () => {
    const hostile = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("secret");
        },
      },
    );
    expect(refusalOf({ a: hostile })).toEqual({ ok: false, path: "$", problem: expect.not.stringContaining("secret") });
  });

  it("runs no getter", () => {
    let calls = 0;
    const value = Object.defineProperty({}, "a", {
      enumerable: true,
      get: () => {
        calls += 1;
        return 1;
      },
    });
    expect(canonicalize(value).ok).toBe(false);
    expect(calls).toBe(0);
  });
});

describe("canonicalizeChecked", () => {
  it("gives the same text as canonicalize for all that was parsed", () => {
    fc.assert(
      fc.property(fc.json({ maxDepth: 6 }), (text) => {
        const value = JSON.parse(text) as JsonValue;
        const whole = canonicalize(value);
        if (whole.ok) expect(canonicalizeChecked(value)).toBe(whole.text);
      }),
    );
    expect(canonicalizeChecked(JSON.parse('{"b":[],"__proto__":{"é":"\\u0000"},"a":{}}'))).toBe(
      '{"__proto__":{"é":"\\u0000"},"a":{},"b":[]}',
    );
  });

  it("throws for what is no JSON value, instead of writing something else", () => {
    for (const bad of [undefined, Number.NaN, 1n, () => 1, "\ud800"]) {
      expect(() => canonicalizeChecked({ bad } as unknown as JsonValue)).toThrow(TypeError);
    }
  });
});
