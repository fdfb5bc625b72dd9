import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findAmounts } from "../../../apps/shop/language/amounts.ts";
import { clausesOf } from "../../../apps/shop/language/clauses.ts";
import { findOrderIds, namesOrder } from "../../../apps/shop/language/order-ids.ts";

const rupees = (text: string) => findAmounts(text).map(({ paise }) => paise / 100);
const ids = (text: string) => findOrderIds(text).map(({ orderId }) => orderId);
const western = (n: number) => n.toLocaleString("en-US");
const indian = (n: number) => n.toLocaleString("en-IN");

describe("amounts", () => {
  it.each<[string, readonly number[]]>([
    ["Rs 1,500", [1500]],
    ["Rs. 1500 please", [1500]],
    ["rs1500", [1500]],
    ["₹1,500.", [1500]],
    ["₹ 750 of O-1022", [750]],
    ["INR 1500", [1500]],
    ["1500 rupees", [1500]],
    ["1,500/- only", [1500]],
    ["Rs 1,50,000", [150_000]],
    ["Rs 1,500.00", [1500]],
    ["Rs 1,500.50", [1500.5]],
    ["refund 1500 on O-1001", [1500]],
    ["refund me 500, please", [500]],
    ["give me back 300", [300]],
    ["Rs 500 and Rs 700", [500, 700]],
    ["refund Rs 500 of the Rs 4,000", [500, 4000]],
    ["refund O-1011", []],
    ["refund 1011 on O-1011", []],
    ["order 1011 Rs 500", [500]],
    ["O-1001 Rs 500", [500]],
    ["orders 1500", []],
    ["on 2026-09-12 I paid", []],
    ["Rs 2k", []],
    ["Rs 2 lakh", []],
    ["Rs 500-700", []],
    ["Rs -500", []],
    ["₹ 1 500", []],
    ["Rs 1\u2009500", []],
    ["1 500 rupees", []],
    ["1\u00a0500 rupees", []],
    ["Rs 1'500", []],
    ["-Rs 500", []],
    ["- Rs 500", []],
    ["−₹500", []],
    ["USD 500 Rs", []],
    ["Rs 500 USD", []],
    ["Rs 500 dollars", []],
    ["PKR Rs 500", []],
    ["not Rs 500", []],
    ["except Rs 500", []],
    ["more than Rs 500", []],
    ["up to Rs 500", []],
    ["between Rs 500 and Rs 700", [700]],
    ["Rs 500 to 700", []],
    ["Rs 500 x 3", []],
    ["Rs 500/1000", []],
    ["Rs 500 or 700", []],
    ["Rs 1,5,00", []],
    ["Rs 1.500", []],
    ["refund 50%", []],
    ["refund 2 items", []],
    ["refund 2nd order", []],
    ["Rſ 500", []],
    ["Rs ٥٠٠", []],
    ["12345678901234 rupees", []],
  ])("of %s are %j", (text, expected) => {
    expect(rupees(text)).toEqual(expected);
  });

  it("reads every whole amount in every usual way of writing it", () => {
    const ways: readonly ((n: number) => string)[] = [
      (n) => `refund Rs ${n} on O-1001`,
      (n) => `refund Rs. ${western(n)} on O-1001`,
      (n) => `refund ₹${indian(n)} on O-1001`,
      (n) => `INR ${western(n)}`,
      (n) => `I want ${indian(n)} rupees back for O-1001.`,
      (n) => `${western(n)}/-`,
    ];
    fc.assert(
      fc.property(fc.integer({ min: 1, max: 99_999_999 }), fc.constantFrom(...ways), (n, write) => {
        expect(rupees(write(n))).toEqual([n]);
      }),
    );
  });

  it("never takes an order number for an amount", () => {
    const digits = fc.integer({ min: 0, max: 9999 }).map((n) => String(n).padStart(4, "0"));
    const frame = fc.constantFrom(
      "refund O-#",
      "refund # on O-#",
      "O-# Rs",
      "please refund order O-# now",
      "O-#, refund me",
    );
    fc.assert(
      fc.property(digits, frame, (number, text) => {
        expect(rupees(text.replaceAll("#", number))).toEqual([]);
      }),
    );
  });

  it("gives whole paise within any text", () => {
    const piece = fc.constantFrom("Rs ", "₹", "1", "0", ",", ".", "O-1001", " refund ", "-", "%", "k", "\n", "é", "/-");
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string({ unit: "binary" }),
          fc.array(piece).map((parts) => parts.join("")),
        ),
        (text) => {
          for (const { paise, start, end } of findAmounts(text)) {
            expect(Number.isSafeInteger(paise) && paise >= 0).toBe(true);
            expect(text.slice(start, end)).toMatch(/^[0-9][0-9,.]*$/);
          }
        },
      ),
    );
  });
});

describe("order numbers", () => {
  it.each<[string, readonly string[]]>([
    ["O-1001", ["O-1001"]],
    ["o-1001, and (O-1002)!", ["O-1001", "O-1002"]],
    ["order:O-1001.", ["O-1001"]],
    ["#O-1001", ["O-1001"]],
    ["O-10112", []],
    ["XO-1011", []],
    ["O-1011a", []],
    ["O-1011-2", []],
    ["A-O-1011", []],
    ["1011", []],
    ["O 1011", []],
    ["О-1011", []],
    ["0-1011", []],
    ["O\u20111011", []],
    ["O-١٠١١", []],
    ["O-1011\u0301", []],
    ["O-1011\u{e0031}", []],
    ["O-10\u200b11", []],
  ])("in %j are %j", (text, expected) => {
    expect(ids(text)).toEqual(expected);
  });

  it("are found exactly where they stand alone", () => {
    fc.assert(
      fc.property(fc.integer({ min: 1000, max: 9999 }), fc.constantFrom("1", "x", "-9", "é", "_"), (number, tail) => {
        expect(namesOrder(`please see O-${number} today`, `O-${number}`)).toBe(true);
        expect(namesOrder(`please see O-${number}${tail} today`, `O-${number}`)).toBe(false);
      }),
    );
  });
});

it("clauses keep their places in any text", () => {
  fc.assert(
    fc.property(
      fc.array(fc.constantFrom("refund", " ", ", ", ". ", " and ", "Rs. 1,500", "\n", "O-1001", "? ")),
      (parts) => {
        const text = parts.join("");
        let last = 0;
        for (const clause of clausesOf(text)) {
          expect(text.slice(clause.start, clause.end)).toBe(clause.text);
          expect(clause.start).toBeGreaterThanOrEqual(last);
          last = clause.end;
        }
      },
    ),
  );
});
