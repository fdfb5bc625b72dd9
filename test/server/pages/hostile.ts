import { z } from "zod";
import {
  type Agent,
  allow,
  ask,
  defineAgent,
  defineRule,
  defineTool,
  deny,
  type ModelClient,
} from "../../../src/index.ts";
import { scriptedModel } from "../../../src/testing/index.ts";
import { calls, final } from "../../engine/support.ts";

/** Markup that would run or break out wherever it was written without an escape. */
export const MARKUP = `"><svg/onload=alert(1)><script>alert(2)</script>'--></textarea></title>&amp;{{7*7}}javascript:alert(3)`;
const TAGS = [..."pay twice"].map((letter) => String.fromCodePoint(0xe0000 + (letter.codePointAt(0) ?? 0))).join("");

/** The argument of a call that wants to push the amount out of sight and to turn the text around. */
export const SNEAKY = `ok \u202Egnihton si siht\u202C${"\n".repeat(300)}${TAGS}end`;
export const LONG = `${MARKUP} ${"x".repeat(10_000)}`;

const HOSTILE_NOTE = `${MARKUP}\u202E\u0000\u001B[31m`;

/** An agent whose tools, rules and results say hostile things wherever they can say anything. */
export function hostileAgent(): Agent {
  return defineAgent({
    name: "hostile",
    revision: MARKUP,
    instructions: "Pay.",
    inputCharactersMax: 20_000,
    tools: [
      defineTool({
        name: "pay",
        description: `Pays ${MARKUP}`,
        level: "irreversible",
        recovery: "keyed",
        input: z.strictObject({ amount_cents: z.int(), payee: z.string(), reason: z.string() }),
        execute: async ({ amount_cents }) => ({ paid: amount_cents, note: HOSTILE_NOTE }),
      }),
      defineTool({
        name: "look",
        description: "Looks",
        level: "read",
        recovery: "read",
        untrusted: true,
        input: z.strictObject({ q: z.string() }),
        execute: async () => ({ [MARKUP]: HOSTILE_NOTE, long: LONG }),
      }),
    ],
    rules: [
      defineRule({
        id: "asks",
        tools: ["pay"],
        decide: (call, context) => {
          context.read("payee", { name: MARKUP, note: SNEAKY });
          const { amount_cents = 0 } = call.args as { amount_cents?: number };
          return amount_cents > 100 ? ask("ABOVE", `too much for ${MARKUP}`) : deny("NO", HOSTILE_NOTE);
        },
      }),
    ],
    label: () => `ended ${MARKUP}`,
  });
}

/** Looks, asks for a payment that needs a person and one that is refused, and says hostile things at the end. */
export function hostileModel(): ModelClient {
  return scriptedModel([
    calls(["look", { q: MARKUP }]),
    calls(
      ["pay", { amount_cents: 123_400, payee: `ACME ${MARKUP}\u202E`, reason: SNEAKY }],
      ["pay", { amount_cents: 1, payee: LONG, reason: "" }],
      [`no-such-tool${MARKUP}`, { x: MARKUP }],
      ["pay", `{"amount_cents": "${MARKUP.replaceAll('"', "")}"}`],
    ),
    final(`Done ${LONG}`),
  ]);
}

/** An agent one of whose payments is lost on the way: nobody knows whether it happened. */
export function doubtfulAgent(): Agent {
  return defineAgent({
    name: "doubtful",
    revision: "1",
    instructions: "Pay.",
    tools: [
      defineTool({
        name: "wire",
        description: "Wires money",
        level: "write",
        recovery: "opaque",
        input: z.strictObject({ amount_cents: z.int(), payee: z.string() }),
        execute: () => {
          throw new Error("connection lost");
        },
      }),
    ],
    rules: [defineRule({ id: "fine", tools: ["wire"], decide: () => allow("OK", "fine") })],
  });
}

export function doubtfulModel(): ModelClient {
  return scriptedModel([calls(["wire", { amount_cents: 5000, payee: `ACME ${MARKUP}\u202E` }]), final("?")]);
}
