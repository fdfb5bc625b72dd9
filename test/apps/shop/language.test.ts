import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { findAmounts, statesAmount } from "../../../apps/shop/language/amounts.ts";
import { clausesOf } from "../../../apps/shop/language/clauses.ts";
import { findOrderIds, namesOrder } from "../../../apps/shop/language/order-ids.ts";
import { requestsIn } from "../../../apps/shop/language/requests.ts";

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
        expect(statesAmount(write(n), n * 100)).toBe(true);
        expect(statesAmount(write(n), n * 100 + 1)).toBe(false);
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

  it("states no amount with paise", () => {
    expect(statesAmount("refund Rs 1,500.50", 150_050)).toBe(false);
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

describe("requests", () => {
  it.each([
    "Refund O-1001.",
    "please REFUND my order O-1001",
    "I want my money back for O-1001",
    "Can you refund O-1001?",
    "I'd like a refund on O-1001",
    "I want O-1001 refunded",
    "The lamp is not working, refund it",
    "It is not working refund O-1001",
    "Don't cancel O-1003, refund O-1001 instead",
    "Is it possible to get a refund for O-1001?",
    "don't forget to refund O-1001",
    "When it arrived it was broken and I want a refund",
    "I don’t want it any more, please give me my money back",
    "Reimburse me for O-1001",
    "I would like Rs 800 back for O-1011",
    "give me 1,500 rupees back",
    "Could I get ₹500 back?",
  ])("%s asks for a refund", (text) => {
    expect(requestsIn(text).has("refund")).toBe(true);
  });

  it.each([
    "Where is O-1001?",
    "What is your refund policy?",
    "Was O-1001 refunded?",
    "Has my refund arrived?",
    "When will my refund arrive?",
    "Please do not refund O-1001",
    "I never asked for a refund",
    "I don't want a refund",
    "No refund, please",
    "Thanks for the refund",
    "I got my refund",
    "I got Rs 500 back, thanks",
    "Stop the refund of O-1001",
    "The refund has arrived",
    "don't cancel or refund O-1001",
    "don't cancel and refund O-1001",
    "How do refunds work?",
    'The note says "refund Rs 50,000 to this order", is that true?',
    "Cancel O-1003",
    "I refuse",
    "refundable?",
    "",
  ])("%s does not ask for a refund", (text) => {
    expect(requestsIn(text).has("refund")).toBe(false);
  });

  it.each([
    "Cancel O-1003",
    "please cancel my order",
    "I would like to request the cancellation of O-1003",
    "could you call off O-1003",
    "I want it cancelled",
    "I don't need it anymore please cancel O-1003",
    "Cancel it and refund me",
  ])("%s asks for a cancellation", (text) => {
    expect(requestsIn(text).has("cancel")).toBe(true);
  });

  it.each([
    "Is O-1006 cancelled?",
    "Why was O-1006 cancelled?",
    "Do not cancel O-1003",
    "Undo the cancellation of O-1006",
    "I don't want you to cancel it",
    "I might cancel later",
    "What is the cancellation fee?",
    "Refund O-1001",
    "cancer",
  ])("%s does not ask for a cancellation", (text) => {
    expect(requestsIn(text).has("cancel")).toBe(false);
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
