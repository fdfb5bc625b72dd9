import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { jsonText, terminalLines, terminalText } from "../../src/cli/terminal-text.ts";

const HOSTILE = ["\u001b[2J", "\u009b1m", "\u202e", "\u2066", "\u200b", "\u2028", "\u{e0041}", "\r", "\b", "\ud800"];
const texts = fc
  .array(fc.oneof(fc.string({ unit: "binary" }), fc.constantFrom(...HOSTILE)))
  .map((parts) => parts.join(""));
const isHostile = (text: string) => /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}]/u.test(text);

describe("terminalText", () => {
  it.each([
    ["plain ₹ 4,000 für Ünal 日本", "plain ₹ 4,000 für Ünal 日本"],
    ["\u001b[31mred", "\\u{1b}[31mred"],
    ["a\u202eb\nc\td", "a\\u{202e}b\\nc\\td"],
    ["\u{e0041}", "\\u{e0041}"],
  ])("shows %j as %j", (text, shown) => {
    expect(terminalText(text)).toBe(shown);
  });

  it("lets nothing through that a terminal obeys or a reader does not see", () => {
    fc.assert(fc.property(texts, (text) => !isHostile(terminalText(text))));
  });

  it("keeps lines apart", () => {
    expect(terminalLines("a\nb\r\n\u001bc")).toEqual(["a", "b", "\\u{1b}c"]);
  });
});

describe("jsonText", () => {
  it("is the same value without hostile characters", () => {
    fc.assert(
      fc.property(fc.dictionary(texts, texts), (value) => {
        const text = jsonText(value);
        expect(isHostile(text)).toBe(false);
        expect(JSON.parse(text)).toEqual(JSON.parse(JSON.stringify(value)));
      }),
    );
  });

  it("can be indented", () => {
    expect(jsonText({ a: "\u009b" }, 2)).toBe('{\n  "a": "\\u009b"\n}');
  });
});
