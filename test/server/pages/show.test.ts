import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  codePointName,
  cutPieces,
  cutText,
  plainLine,
  textPieces,
} from "../../../src/server/pages/show/code-points.ts";
import { amountText, headlineOf } from "../../../src/server/pages/show/headline.ts";
import { costText, median } from "../../../src/server/pages/show/numbers.ts";
import { dayOf, durationText } from "../../../src/server/pages/show/times.tsx";

const HIDDEN = /[\p{Cc}\p{Cf}\p{Zl}\p{Zp}\p{Cs}\p{Default_Ignorable_Code_Point}]/u;

describe("foreign text", () => {
  it("names each code point that a reader cannot see, and repeats as a count", () => {
    expect(textPieces("a\u202Eb")).toEqual([
      { kind: "text", text: "a" },
      { kind: "code_point", codePoint: 0x202e, count: 1 },
      { kind: "text", text: "b" },
    ]);
    expect(codePointName(0x202e)).toBe("U+202E");
    expect(plainLine(`x${"\n".repeat(300)}y`, 200)).toBe("x[U+000A ×300]y");
    expect(plainLine("hi\u{e0041}\u{e0042}", 200)).toBe("hi[U+E0041][U+E0042]");
  });

  it("keeps one or two line ends as line ends", () => {
    expect(textPieces("a\r\n\r\nb").map(({ kind }) => kind)).toEqual(["text", "line_end", "line_end", "text"]);
  });

  it("never lets anything hidden through, whatever the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const shown = textPieces(text).flatMap((piece) => (piece.kind === "text" ? [piece.text] : []));
        expect(shown.join("")).not.toMatch(HIDDEN);
        expect(plainLine(text, 40)).not.toMatch(HIDDEN);
      }),
    );
  });

  it("loses nothing: the pieces add up to the text", () => {
    fc.assert(
      fc.property(fc.string({ unit: "binary", maxLength: 60 }), (text) => {
        const again = textPieces(text).map((piece) => {
          if (piece.kind === "text") return piece.text;
          return piece.kind === "line_end" ? "\n" : String.fromCodePoint(piece.codePoint).repeat(piece.count);
        });
        expect(again.join("")).toBe(text.replaceAll("\r\n", "\n"));
      }),
    );
  });

  it("cuts pieces so that a row of line ends keeps its count", () => {
    const sneaky = textPieces(`ok${"\n".repeat(300)}end`);
    expect(cutPieces(sneaky, 100, 2)).toBe(sneaky);
    expect(cutPieces(textPieces("one\ntwo\nthree"), 100, 2)).toEqual(textPieces("one\ntwo"));
    expect(cutPieces(textPieces("abcdef"), 3, 9)).toEqual(textPieces("abc"));
    expect(cutPieces(textPieces("\u202E\u202E\u202D"), 10, 9)).toEqual(textPieces("\u202E\u202E"));
  });

  it("cuts by characters and by lines, and never half a character", () => {
    expect(cutText("a\nb\nc\nd", 100, 2)).toBe("a\nb");
    expect(cutText("abcdef", 3, 9)).toBe("abc");
    expect(cutText("ab\u{1f600}cd", 3, 9)).toBe("ab");
    fc.assert(
      fc.property(fc.string({ unit: "grapheme" }), fc.nat(20), (text, max) => {
        expect(cutText(text, max, 3).isWellFormed()).toBe(text.isWellFormed());
      }),
    );
  });
});

describe("the headline of a call", () => {
  it("finds the amount and for whom", () => {
    expect(headlineOf({ idempotency_key: "k", order_id: "O-1", amount_paise: 320_000 })).toEqual({
      amount: { name: "amount_paise", text: "Rs 3,200.00", exact: "320,000 paise" },
      recipient: { name: "order_id", text: "O-1" },
    });
    expect(headlineOf({ quantity: 40, sku: "SKU-1", supplier: "Acme" })).toEqual({
      amount: { name: "quantity", text: "40" },
      recipient: { name: "supplier", text: "Acme" },
    });
  });

  it("says nothing where the arguments say nothing", () => {
    expect(headlineOf(null)).toEqual({});
    expect(headlineOf({ note: "hello", amount: "12" })).toEqual({});
  });

  it("writes no unit that the name does not have", () => {
    expect(amountText("amountCents", 2500)).toEqual({ text: "25.00", exact: "2,500 cents" });
    expect(amountText("total", 2500)).toEqual({ text: "2,500" });
    expect(amountText("amount_paise", 0.5)).toEqual({ text: "0.5" });
  });
});

describe("numbers and times", () => {
  it("tells a duration in its two largest units", () => {
    expect([12, 4_000, 61_000, 3_600_000, 90_061_000, -5].map(durationText)).toEqual([
      ...["12 ms", "4 s", "1 min 1 s", "1 h", "1 d 1 h", "0 ms"],
    ]);
  });

  it("never shows an unknown cost as zero", () => {
    expect([undefined, 0, 50_000, 4_200_000, 2_500_000_000].map(costText)).toEqual([
      ...["unknown", "$0.00", "< $0.0001", "$0.0042", "$2.50"],
    ]);
  });

  it("has a median of odd, even and no values", () => {
    expect([median([3, 1, 2]), median([4, 1]), median([])]).toEqual([2, 2.5, undefined]);
  });

  it("survives a time that no calendar has", () => {
    expect(dayOf(Number.MAX_SAFE_INTEGER)).toBe("never");
  });
});
