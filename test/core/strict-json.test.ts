import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { checkJsonValue, parseStrictJson } from "../../src/core/index.ts";

function codeOf(text: string): string {
  const parsed = parseStrictJson(text);
  return parsed.ok ? "ok" : parsed.code;
}

function readOf(text: string): unknown {
  const parsed = parseStrictJson(text);
  return parsed.ok ? parsed.value : parsed;
}

describe("parseStrictJson", () => {
  it("json-01: refuses a key that appears twice, with its path", () => {
    expect(parseStrictJson('{"order_id":"A1","amount_cents":500,"amount_cents":500000}')).toEqual({
      ok: false,
      code: "duplicate_key",
      message: 'the key "amount_cents" appears twice in one object',
      path: "amount_cents",
    });
    expect(parseStrictJson('{"items":[{"n":1},{"n":1,"\\u006e":2}]}')).toMatchObject({
      code: "duplicate_key",
      path: "items[1].n",
    });
    expect(codeOf('{"a":{"n":1},"b":{"n":1}}')).toBe("ok");
  });

  it("json-04: refuses numbers that overflow", () => {
    expect(parseStrictJson('{"order_id":"A1","amount_cents":1e400}')).toMatchObject({
      code: "not_finite",
      path: "amount_cents",
    });
    expect(codeOf("-1e400")).toBe("not_finite");
  });

  it("json-07: makes -0 into 0, however it is written", () => {
    for (const text of ["-0", "-0.0", "-0e5", "-1e-400"]) {
      expect(Object.is(readOf(text), 0), text).toBe(true);
    }
  });

  it("json-13: refuses lone surrogates, escaped or raw, in values and keys", () => {
    expect(parseStrictJson('{"order_id":"A1","reason":"\\ud800"}')).toMatchObject({
      code: "lone_surrogate",
      path: "reason",
    });
    expect(codeOf('"\ud800"')).toBe("lone_surrogate");
    expect(codeOf('{"\\udc00":1}')).toBe("lone_surrogate");
    expect(readOf('"\\ud83d\\ude00"')).toBe("😀");
  });

  it("refuses integers that lose digits", () => {
    for (const text of ["9007199254740992", "9007199254740993", "-9007199254740992", "1e20", "1e308"]) {
      expect(codeOf(text), text).toBe("unsafe_integer");
    }
    expect(readOf("[9007199254740991,-9007199254740991,1e3,0.1]")).toEqual([
      9007199254740991, -9007199254740991, 1000, 0.1,
    ]);
  });

  it("schema-04: refuses 20,000 levels without exhausting the stack", () => {
    const deep = `${'{"n":'.repeat(20_000)}1${"}".repeat(20_000)}`;
    expect(codeOf(deep)).toBe("too_deep");
    expect(codeOf("[".repeat(20_000))).toBe("too_deep");
    const asked = parseStrictJson("[".repeat(900_000), { depthMax: Number.POSITIVE_INFINITY });
    expect(asked).toMatchObject({ ok: false, code: "too_deep" });
  });

  it("counts levels exactly", () => {
    expect(codeOf(`${"[".repeat(32)}${"]".repeat(32)}`)).toBe("ok");
    expect(codeOf(`${"[".repeat(33)}${"]".repeat(33)}`)).toBe("too_deep");
  });

  it("proto-and-extra-args: refuses __proto__, also escaped, and changes no prototype", () => {
    expect(codeOf('{"order":"A","cents":1,"admin":true,"__proto__":{"isAdmin":true}}')).toBe("forbidden_key");
    expect(codeOf('{"\\u005f_proto__":{"isAdmin":true}}')).toBe("forbidden_key");
    expect(({} as { isAdmin?: boolean }).isAdmin).toBeUndefined();
  });

  it("takes constructor and toString as ordinary keys", () => {
    const value = readOf('{"constructor":1,"toString":2,"hasOwnProperty":3}') as object;
    expect(Object.keys(value)).toEqual(["constructor", "toString", "hasOwnProperty"]);
    expect(Object.getPrototypeOf(value)).toBe(Object.prototype);
  });

  it("invalid-json-args: says where a malformed text goes wrong", () => {
    expect(parseStrictJson('{"q": "x"')).toEqual({
      ok: false,
      code: "invalid_json",
      message: 'the text is not valid JSON: the text ends at character 10, expected "," or "}"',
      path: "<root>",
    });
  });

  it.each([
    "{'a':1}",
    '{"a":1,}',
    "[1,]",
    "[1 2]",
    "01",
    "+1",
    ".5",
    "1.",
    "1e",
    "NaN",
    "Infinity",
    "tru",
    "nul",
    '"\t"',
    '"\\x"',
    '"\\u12g4"',
    '"abc',
    '"\\',
    "{} {}",
    "\ufeff{}",
    "\u00a0{}",
    "/*c*/{}",
    '{"a" 1}',
    "{1:2}",
    "]",
  ])("refuses %j as invalid_json", (text) => {
    expect(codeOf(text)).toBe("invalid_json");
    expect(() => JSON.parse(text)).toThrow();
  });

  it("empty-string-args: takes a blank text as {}", () => {
    expect(readOf("")).toEqual({});
    expect(readOf(" \n\t ")).toEqual({});
  });

  it("refuses a text that is too long before reading it", () => {
    expect(parseStrictJson("[1,2,3]", { charactersMax: 6 })).toMatchObject({ code: "too_large" });
    expect(parseStrictJson("[1,2,3]", { charactersMax: 7 }).ok).toBe(true);
  });

  it("agrees with JSON.parse on every document without unsafe numbers", () => {
    const document = fc.json({ maxDepth: 6 }).filter((text) => !text.includes("__proto__"));
    fc.assert(
      fc.property(document, fc.constantFrom(undefined, 1, "\t"), (text, indent) => {
        const spaced = JSON.stringify(JSON.parse(text), null, indent);
        const parsed = parseStrictJson(spaced);
        if (!parsed.ok) {
          expect(["unsafe_integer", "lone_surrogate"]).toContain(parsed.code);
          return;
        }
        // JSON.stringify writes -0 as 0 already, and escapes lone surrogates.
        expect(parsed.value).toEqual(JSON.parse(spaced));
        expect(JSON.stringify(parsed.value)).toBe(JSON.stringify(JSON.parse(spaced)));
      }),
      { numRuns: 500 },
    );
  });

  it("never throws and never accepts what JSON.parse refuses", () => {
    const piece = fc.constantFrom("{", "}", "[", "]", ":", ",", '"', "\\", "u0041", "-", "0", "1e9", "true", " ", "a");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(piece).map((pieces) => pieces.join("")),
        ),
        (text) => {
          const parsed = parseStrictJson(text);
          if (parsed.ok && text.trim() !== "") {
            expect(JSON.stringify(parsed.value)).toBe(JSON.stringify(JSON.parse(text)));
          }
        },
      ),
      { numRuns: 1000 },
    );
  });
});

describe("checkJsonValue", () => {
  it("copies plain data and leaves out undefined properties", () => {
    const value = { a: [1, { b: "x" }], c: undefined, d: null };
    const checked = checkJsonValue(value);
    expect(checked).toEqual({ ok: true, value: { a: [1, { b: "x" }], d: null } });
    expect(checked.ok && checked.value).not.toBe(value);
  });

  it.each([
    ["a bigint", { a: 1n }, "not_json", "a"],
    ["undefined", undefined, "not_json", "<root>"],
    ["undefined in an array", [1, undefined], "not_json", "[1]"],
    ["a hole", Object.assign([1], { 2: 1 }), "not_json", "[1]"],
    ["a function", { a: () => 1 }, "not_json", "a"],
    ["a date", { a: new Date(0) }, "not_json", "a"],
    ["a map", new Map(), "not_json", "<root>"],
    ["a symbol key", { [Symbol("x")]: 1 }, "not_json", "<root>"],
    ["NaN", { a: Number.NaN }, "not_finite", "a"],
    ["an unsafe integer", { a: 2 ** 53 }, "unsafe_integer", "a"],
    ["an own __proto__", JSON.parse('{"__proto__":{"isAdmin":true}}'), "forbidden_key", "<root>"],
    ["a lone surrogate", { a: "\ud800" }, "lone_surrogate", "a"],
  ])("refuses %s", (_name, value, code, path) => {
    expect(checkJsonValue(value)).toMatchObject({ ok: false, code, path });
  });

  it("refuses cycles, getters, Proxies that throw, and depth", () => {
    const cycle: Record<string, unknown> = {};
    cycle["again"] = [cycle, cycle];
    expect(checkJsonValue(cycle)).toMatchObject({ code: "not_json", path: "again[0]" });
    let called = 0;
    const getter = Object.defineProperty({}, "a", { enumerable: true, get: () => ++called });
    expect(checkJsonValue(getter)).toMatchObject({ code: "not_json", path: "a" });
    expect(called).toBe(0);
    const proxy = new Proxy(
      {},
      {
        ownKeys: () => {
          throw new Error("password=hunter2");
        },
      },
    );
    expect(JSON.stringify(checkJsonValue(proxy))).not.toContain("hunter2");
    let deep: unknown = 1;
    for (let level = 0; level < 20_000; level += 1) {
      deep = { deep };
    }
    expect(checkJsonValue(deep)).toMatchObject({ code: "too_deep" });
  });

  it("stops at its size, also for a small value that refers to itself very often", () => {
    let wide: unknown = [];
    for (let level = 0; level < 30; level += 1) {
      wide = [wide, wide];
    }
    expect(checkJsonValue(wide)).toMatchObject({ code: "too_large" });
  });

  it("makes -0 into 0, and repairs text only when asked", () => {
    const checked = checkJsonValue([-0]);
    expect(checked.ok && Object.is((checked.value as number[])[0], 0)).toBe(true);
    expect(checkJsonValue("a\ud800", { repairText: true })).toEqual({ ok: true, value: "a\ufffd" });
    expect(checkJsonValue({ "\ud800": 1, "\ud801": 2 }, { repairText: true })).toMatchObject({ code: "duplicate_key" });
  });

  it("agrees with parseStrictJson", () => {
    fc.assert(
      fc.property(fc.jsonValue({ maxDepth: 5 }), (value) => {
        const copied = checkJsonValue(value);
        const parsed = parseStrictJson(JSON.stringify(value));
        expect(copied.ok ? copied.value : copied.code).toEqual(parsed.ok ? parsed.value : parsed.code);
      }),
    );
  });
});
