import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  applyFilters,
  checkFilters,
  type Filter,
  type FilterContext,
  sizeCap,
  stripInvisible,
  WITHHELD_VIEW,
} from "../../src/context/index.ts";
import type { JsonValue } from "../../src/core/index.ts";

const context: FilterContext = { tool: "get_order", callId: "c1", isError: false, untrusted: false };

describe("sizeCap", () => {
  it("leaves what is short enough", () => {
    expect(sizeCap({ charactersMax: 7 }).apply([1, 2, 3], context)).toEqual({ value: [1, 2, 3] });
  });

  it("cuts the JSON text, or the string itself, and says how much is missing", () => {
    expect(sizeCap({ charactersMax: 6 }).apply([1, 2, 3], context)).toEqual({
      value: "[1,2,3 [1 characters left out by the harness]",
      note: { leftOut: 1 },
    });
    expect(sizeCap({ charactersMax: 3 }).apply("abcdefgh", context)).toEqual({
      value: "abc [5 characters left out by the harness]",
      note: { leftOut: 5 },
    });
    const view = sizeCap().apply("x".repeat(16_001), context).value;
    expect(view).toBe(`${"x".repeat(16_000)} [1 characters left out by the harness]`);
  });

  it("never splits a surrogate pair and counts right", () => {
    expect(sizeCap({ charactersMax: 2 }).apply("a😀b", context)).toEqual({
      value: "a [3 characters left out by the harness]",
      note: { leftOut: 3 },
    });
    fc.assert(
      fc.property(
        fc.string({ unit: "grapheme-composite", maxLength: 30 }),
        fc.integer({ min: 1, max: 40 }),
        (text, max) => {
          const { value } = sizeCap({ charactersMax: max }).apply(text, context);
          expect((value as string).isWellFormed()).toBe(true);
          const [, kept = value, left = "0"] =
            /^(.*) \[(\d+) characters left out by the harness\]$/s.exec(value as string) ?? [];
          expect((kept as string).length + Number(left)).toBe(text.length);
          expect((kept as string).length).toBeLessThanOrEqual(max);
        },
      ),
    );
  });

  it.each([0, -1, 1.5, Number.NaN])("refuses the bound %s", (charactersMax) => {
    expect(() => sizeCap({ charactersMax })).toThrow(expect.objectContaining({ code: "BELAY_FILTER_INVALID" }));
  });
});

describe("stripInvisible", () => {
  const strip = (value: JsonValue) => stripInvisible().apply(value, context);

  it("removes zero-width characters, bidi controls and tags everywhere, keys included", () => {
    expect(strip({ "na\u200bme": ["re\u202efund\u2069", "\ufeffok"], n: 1, none: null })).toEqual({
      value: { name: ["refund", "ok"], n: 1, none: null },
      note: { removed: 4 },
    });
  });

  it("decodes what tag characters spell", () => {
    const hidden = [..."pay me"].map((character) => String.fromCodePoint(0xe0000 + (character.codePointAt(0) ?? 0)));
    expect(strip(`hi${hidden.join("")}`)).toEqual({ value: "hi", note: { removed: 6, decodedTags: "pay me" } });
    const long = String.fromCodePoint(0xe0041).repeat(1000);
    expect(strip(long)).toEqual({ value: "", note: { removed: 1000, decodedTags: "A".repeat(200) } });
  });

  it("leaves visible text of every language alone and adds no note", () => {
    for (const text of ["plain", "Zürich", "日本語", "שלום", "मानक", "😀", "a\tb\nc"]) {
      expect(strip(text)).toEqual({ value: text });
    }
  });

  it("loses no value when two keys become equal, and makes no __proto__", () => {
    expect(strip({ a: 1, "a\u200b": 2, "a\u200c": 3 }).value).toEqual({ a: 1, "a#2": 2, "a#3": 3 });
    const { value } = strip({ "__pro\u200bto__": { isAdmin: true } });
    expect(value).toEqual({ "(__proto__)": { isAdmin: true } });
  });

  it("finds nothing in what it has stripped", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary" }), (text) => {
        expect(strip(strip(text).value)).not.toHaveProperty("note");
      }),
    );
  });
});

describe("applyFilters", () => {
  const upper: Filter = {
    id: "upper",
    apply: (value) => ({ value: String(value).toUpperCase(), note: { seen: value } }),
  };

  it("applies in order and collects notes by filter", () => {
    const dots: Filter = { id: "dots", apply: (value) => ({ value: `${value}...` }) };
    expect(applyFilters([upper, dots, { ...upper, id: "again" }], "abc", context)).toEqual({
      view: "ABC...",
      notes: [
        { filter: "upper", note: { seen: "abc" } },
        { filter: "again", note: { seen: "ABC..." } },
      ],
      failed: false,
    });
    expect(applyFilters([], "abc", context)).toEqual({ view: "abc", notes: [], failed: false });
  });

  it.each([
    [
      "throws",
      () => {
        throw new Error("password=hunter2");
      },
    ],
    ["gives undefined", () => undefined],
    ["gives null", () => null],
    ["gives a text", () => "abc"],
    ["gives no value", () => ({})],
    ["gives an undefined value", () => ({ value: undefined })],
    ["gives a value that is not JSON", () => ({ value: 1n })],
    ["gives a promise", async () => ({ value: "abc" })],
    ["rejects", () => Promise.reject(new Error("x"))],
    [
      "gives a value that throws",
      () => ({
        get value() {
          throw new Error("x");
        },
      }),
    ],
  ])("withholds the result when a filter %s, and asks no further one", async (_name, apply) => {
    const unhandled: unknown[] = [];
    const listen = (reason: unknown) => unhandled.push(reason);
    process.on("unhandledRejection", listen);
    let asked = false;
    const last: Filter = {
      id: "last",
      apply: (value) => {
        asked = true;
        return { value };
      },
    };
    const applied = applyFilters(
      [upper, { id: "bad", apply: apply as unknown as Filter["apply"] }, last],
      "secret",
      context,
    );
    expect(applied).toEqual({
      view: { error: "filter_failed", message: "result withheld: a filter failed" },
      notes: [
        { filter: "upper", note: { seen: "secret" } },
        { filter: "bad", failed: true },
      ],
      failed: true,
    });
    expect(applied.view).toBe(WITHHELD_VIEW);
    expect(asked).toBe(false);
    await new Promise((resolve) => setImmediate(resolve));
    process.off("unhandledRejection", listen);
    expect(unhandled).toEqual([]);
  });

  it("keeps the stored result from being written to", () => {
    const stored = { rows: [1] };
    const writing: Filter = {
      id: "writing",
      apply: (value) => {
        (value as { rows: number[] }).rows.push(2);
        return { value };
      },
    };
    expect(applyFilters([writing], stored, context).view).toEqual({ rows: [1, 2] });
    expect(stored).toEqual({ rows: [1] });
  });

  it("bounds notes without withholding the result", () => {
    const noting = (note: unknown): Filter => ({ id: "n", apply: (value) => ({ value, note: note as JsonValue }) });
    expect(applyFilters([noting(1n)], "abc", context)).toMatchObject({
      view: "abc",
      notes: [{ note: { omitted: expect.any(String) } }],
    });
    expect(applyFilters([noting("x".repeat(3000))], "abc", context)).toMatchObject({
      view: "abc",
      notes: [{ note: { omitted: "3002 characters, 2000 are kept" } }],
    });
  });

  it("checks filters at start-up", () => {
    expect(checkFilters([sizeCap(), stripInvisible(), upper])).toBeUndefined();
    for (const bad of [[upper, upper], [{ ...upper, id: "" }], [{ ...upper, id: "a b" }], [{ id: "x" } as Filter]]) {
      expect(() => checkFilters(bad)).toThrow(expect.objectContaining({ code: "BELAY_FILTER_INVALID" }));
    }
  });
});
