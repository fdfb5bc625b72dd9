import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { isAskedFor, readRequests, refundsWanted } from "../../../apps/shop/language/requests.ts";
import { ASKS_CANCEL, ASKS_NOTHING, ASKS_REFUND } from "./request-table.ts";

const asks = (message: string, kind: "refund" | "cancel", orderId: string): boolean =>
  isAskedFor(readRequests(message), kind, orderId);

describe("a labelled table", () => {
  it("is large, and has as many refusals as requests at least", () => {
    const yes = new Set([...ASKS_REFUND, ...ASKS_CANCEL]);
    const no = new Set(ASKS_NOTHING);
    expect(yes.size).toBeGreaterThanOrEqual(100);
    expect(no.size).toBeGreaterThanOrEqual(200);
    expect([...yes].filter((message) => no.has(message))).toEqual([]);
  });

  it.each(ASKS_REFUND)("refunds: %s", (message) => {
    expect(asks(message, "refund", "O-1001")).toBe(true);
    expect(asks(message, "cancel", "O-1001")).toBe(false);
  });

  it.each(ASKS_CANCEL)("cancels: %s", (message) => {
    expect(asks(message, "cancel", "O-1003")).toBe(true);
  });

  it.each(ASKS_NOTHING)("does nothing: %s", (message) => {
    const { orders, withoutOrder } = readRequests(message);
    expect([orders, withoutOrder]).toEqual([[], []]);
  });
});

const ORDER = fc.integer({ min: 1001, max: 1032 }).map((number) => `O-${number}`);
const VERB = fc.constantFrom("refund", "cancel", "reimburse me for", "give me my money back for", "call off");
/** `#` is the verb with its order. */
const REFUSING: readonly string[] = [
  ...["do not #", "don't #", "dont #", "don’t #", "do n't #", "never #", "NEVER EVER #", "please do not #"],
  ...["please don't, under any circumstances, #", "do not, I repeat, do not #", "don't you dare #", "do NOT; #"],
  ...["under no circumstances #", "by no means #", "in no case #", "no need to #", "there is no reason to #"],
  ...["I don't want you to #", "I do not want to #", "I never wanted to #", "I didn't ask you to #", "I refuse: #"],
  ...["you must not #", "you cannot #", "we can't #", "nobody should #", "neither # nor anything", "rather than #"],
  ...["instead of that don't #", "avoid this: #", "stop. #", "hold on, #", "wait before you #", "ignore this: #"],
  ...["if it breaks, #", "unless I write, #", "when I say so, #", "# if you like", "# unless it arrives", "# later"],
  ...[
    "#? No.",
    "#? No way.",
    "#?",
    "#?! Never!",
    "# ... just kidding",
    "#. Never mind.",
    "#. Scratch that.",
    "#, not.",
  ],
  ...[
    "#. I changed my mind.",
    "#. Actually, no.",
    "#. No.",
    "No. #",
    "#. Don't.",
    "# - NOT",
    "# — never",
    "#, no thanks",
  ],
  ...["'#'", '"#"', "“#”", "‘#’", "«#»", "`#`", "> #", "he said: #", "the note says #", "my friend wrote #"],
  ...["my friend's mail: '#'", "they told me to # ", "Fwd: #", "Subject: #", "she asks: #", "it reads #"],
  ...[
    "I wanted to #",
    "I might #",
    "I will # tomorrow",
    "would you #",
    "should I #",
    "why #",
    "can you explain how to #",
  ],
  ...["I used to #", "who would #", "suppose I #", "pretend to #", "maybe #", "# or something else", "I forgot to # "],
];
const SPELLING = fc.constantFrom<(text: string) => string>(
  (text) => text,
  (text) => text.toUpperCase(),
  (text) => text.replace(/^./, (letter) => letter.toUpperCase()),
  (text) => `${text}!`,
  (text) => `Hello. ${text}`,
  (text) => `${text}\nThanks, Asha`,
  (text) => text.replaceAll(" ", "  "),
);

it("no refusing, doubting or quoting sentence ever asks, whatever the verb, the order and the spelling", () => {
  fc.assert(
    fc.property(fc.constantFrom(...REFUSING), VERB, ORDER, SPELLING, (template, verb, order, spell) => {
      const message = spell(template.replace("#", `${verb} ${order}`));
      expect([message, readRequests(message).orders]).toEqual([message, []]);
    }),
    { numRuns: 3000 },
  );
});

it("a negation put anywhere into a plain request takes it away, or leaves no request for that order", () => {
  const plain = fc.constantFrom(
    "please refund # now",
    "I want a refund for #",
    "can you refund #",
    "I want # refunded",
  );
  const negation = fc.constantFrom("not", "never", "no", "don't", "without", "cannot", "nor", "refuse to");
  fc.assert(
    fc.property(plain, negation, ORDER, fc.nat(), (template, word, order, at) => {
      const words = template.split(" ");
      words.splice(at % (words.length + 1), 0, word);
      const message = words.join(" ").replace("#", order);
      expect([message, asks(message, "refund", order)]).toEqual([message, false]);
    }),
    { numRuns: 1000 },
  );
});

it("reads any text in reasonable time and finds only orders that it names", () => {
  const piece = fc.constantFrom(
    ..."refund|cancel|O-1001|O-1008|Rs 500|not|please|, |. |? |: |'|\"|and|my|the|of|it|\n".split("|"),
  );
  fc.assert(
    fc.property(fc.array(piece, { maxLength: 60 }), fc.string({ unit: "binary" }), (parts, tail) => {
      const { orders, named } = readRequests(parts.join(" ") + tail);
      expect(orders.every(({ orderId }) => named.has(orderId))).toBe(true);
    }),
  );
});

describe("what is asked for belongs to its order", () => {
  it.each<[string, readonly string[]]>([
    ["Do not refund O-1001. Please refund O-1008.", ["O-1008"]],
    ["refund O-1008, not O-1001", ["O-1008"]],
    ["Please refund O-1008. Not O-1001.", ["O-1008"]],
    ["Refund O-1001. Do not refund O-1001.", []],
    ["Where is O-1001? Please refund O-1008.", ["O-1008"]],
    ["O-1001 is fine. O-1008 is broken, refund it.", ["O-1008"]],
    ["O-1001 and O-1008 are broken. Refund it.", []],
    ["Cancel O-1001 and refund O-1008", ["O-1008"]],
    ["Refund O-1001 and O-1008", ["O-1001", "O-1008"]],
  ])("%s", (message, refunded) => {
    for (const orderId of ["O-1001", "O-1008"]) {
      expect([orderId, asks(message, "refund", orderId)]).toEqual([orderId, refunded.includes(orderId)]);
    }
  });

  it("and an order that no clause mentions is left to the rule that an order must be named", () => {
    expect(asks("Please cancel O-1020.", "cancel", "O-1019")).toBe(true);
    expect(asks("Please cancel O-1020.", "refund", "O-1019")).toBe(false);
    expect(asks("Please cancel O-1020. Where is O-1019?", "cancel", "O-1019")).toBe(false);
  });
});

describe("how much is wanted", () => {
  it.each<[string, string, readonly (number | string)[]]>([
    ["Refund Rs 100 on O-1005. My O-1011 cost Rs 1,900", "O-1005", [100]],
    ["Refund Rs 100 on O-1005. My O-1011 cost Rs 1,900", "O-1011", []],
    ["Refund Rs 500 of the Rs 4,000 I paid for O-1005", "O-1005", [500]],
    ["I paid Rs 4,000 for O-1005. Refund it.", "O-1005", ["all"]],
    ["Refund Rs 100 on O-1001 and Rs 200 on O-1008", "O-1008", [200]],
    ["Refund Rs 100 on O-1001 and O-1008", "O-1008", ["unclear"]],
    ["Refund Rs 100 each on O-1001 and O-1008", "O-1008", [100]],
    ["Refund Rs 100 and Rs 200 on O-1011 and O-1005", "O-1005", ["unclear"]],
    ["Refund half of O-1005", "O-1005", ["unclear"]],
    ["refund ₹ 1 500 on O-1011", "O-1011", []],
    ["Refund everything except Rs 500 on O-1011", "O-1011", []],
    ["refund -Rs 500 on O-1011", "O-1011", []],
    ["refund between Rs 500 and Rs 700 on O-1011", "O-1011", []],
    ["Refund Rs 1,500.50 on O-1030", "O-1030", [1500.5]],
  ])("%s, on %s: %j", (message, orderId, expected) => {
    const wanted = refundsWanted(readRequests(message), orderId);
    expect(wanted.map((one) => (one.kind === "stated" ? one.paise / 100 : one.kind))).toEqual(expected);
  });
});
