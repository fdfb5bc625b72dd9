import type { Principal, RequestedCall } from "../../../src/index.ts";
import { wordsOf } from "./alphabet.ts";
import { BASE_AT, type Desk, handle, openDesk } from "./direct.ts";
import type { CustomerWords, JudgedRun } from "./oracle.ts";
import { createOracle } from "./oracle.ts";
import type { ShopEffect } from "./recording-world.ts";

/** One thing that can happen next: a call with what a person would say to it, or something that staff do. */
export type Action =
  | {
      readonly kind: "call";
      readonly name: string;
      readonly request: RequestedCall;
      readonly person: "approved" | "rejected";
    }
  | { readonly kind: "staff"; readonly name: string; readonly act: (desk: Desk) => void };

const call = (
  name: string,
  tool: string,
  json: Readonly<Record<string, unknown>>,
  person: "approved" | "rejected" = "approved",
): Action => ({ kind: "call", name, person, request: { tool, args: { json } } });

const refund = (order: string, paise: number, key: string, person: "approved" | "rejected" = "approved"): Action =>
  call(
    `refund ${order} ${paise} ${key} ${person}`,
    "issue_refund",
    { order_id: order, amount_paise: paise, idempotency_key: key },
    person,
  );
const cancel = (order: string): Action =>
  call(`cancel ${order}`, "cancel_order", { order_id: order, idempotency_key: `cancel-${order}` });
const email = (order: string, key: string): Action =>
  call(`email ${order} ${key}`, "send_email", { order_id: order, subject: "s", body: "b", idempotency_key: key });

/** The finite alphabet: each rule of the shop has a letter on both sides of it. */
export const ACTIONS: readonly Action[] = [
  refund("O-1009", 200_000, "key-auto-1"),
  refund("O-1009", 200_001, "key-auto-2"),
  refund("O-1010", 200_100, "key-above1"),
  refund("O-1010", 200_100, "key-above1", "rejected"),
  refund("O-1011", 50_000, "key-part-1"),
  refund("O-1011", 50_000, "key-part-2"),
  refund("O-1011", 101_100, "key-part-3"),
  refund("O-1011", 320_000, "key-whole1"),
  refund("O-1011", 270_000, "key-whole2"),
  refund("O-1015", 200_000, "key-rest-1"),
  refund("O-1015", 300_000, "key-rest-2"),
  refund("O-1014", 125_000, "key-old-01"),
  refund("O-1006", 75_000, "key-gone-1"),
  refund("O-1001", 150_000, "key-other1"),
  refund("O-1003", 89_900, "key-placed"),
  cancel("O-1003"),
  cancel("O-1002"),
  cancel("O-1017"),
  email("O-1011", "key-mail-1"),
  email("O-1011", "key-mail-2"),
  email("O-1001", "key-mail-3"),
  call("search", "search_orders", { query: "" }),
  call("unknown tool", "pay_supplier", { order_id: "O-1009" }),
  call("extra key", "issue_refund", {
    order_id: "O-1009",
    amount_paise: 200_000,
    idempotency_key: "key-extra1",
    to: "me",
  }),
  {
    kind: "staff",
    name: "staff refund O-1011",
    act: ({ world }) => void world.insertRefund({ orderId: "O-1011", amountPaise: 50_000, at: BASE_AT }),
  },
  { kind: "staff", name: "staff cancel O-1003", act: ({ world }) => void world.cancel("O-1003", { at: BASE_AT }) },
];

const NAMED = ["O-1009", "O-1010", "O-1011", "O-1015", "O-1014", "O-1006", "O-1003", "O-1002"] as const;

export interface Setting {
  readonly name: string;
  /** Different states of the shop up to depth 3, and effects of the agent over all sequences. */
  readonly states: number;
  readonly effects: number;
  readonly words: CustomerWords;
  readonly customerId?: string;
}

export const SETTINGS: readonly Setting[] = [
  {
    name: "a customer who asks for everything",
    states: 231,
    effects: 5967,
    words: wordsOf([
      ...NAMED.map((order) => ({ text: `Please refund ${order}.`, named: [order], asks: "refund" as const })),
      { text: "Please refund Rs 500 on O-1011.", named: ["O-1011"], rupees: [500], asks: "refund" },
      { text: "Please cancel O-1003.", named: ["O-1003"], asks: "cancel" },
    ]),
  },
  {
    name: "a customer who only asks where the orders are",
    states: 12,
    effects: 1202,
    words: wordsOf(NAMED.map((order) => ({ text: `Where is ${order}?`, named: [order] }))),
  },
  {
    name: "the signed-in owner of O-1011, who asks for everything",
    states: 19,
    effects: 2860,
    words: wordsOf([
      ...NAMED.map((order) => ({ text: `Please refund ${order}.`, named: [order], asks: "refund" as const })),
      { text: "Please refund Rs 500 on O-1011.", named: ["O-1011"], rupees: [500], asks: "refund" },
    ]),
    customerId: "C-11",
  },
];

export interface Explored {
  readonly sequences: number;
  /** Different states of the shop that were reached. */
  readonly states: number;
  readonly effects: number;
  readonly wrong: readonly string[];
}

class Undo extends Error {}

/** Walks every sequence of actions up to a depth, taking each step back again, and judges every step. */
export function explore(setting: Setting, depthMax: number, without?: string): Explored {
  const desk = openDesk(without);
  const states = new Set<string>();
  const wrong: string[] = [];
  let sequences = 0;
  let effects = 0;

  const visit = (path: readonly Action[]): void => {
    sequences += 1;
    states.add(JSON.stringify(desk.world.snapshot()));
    if (path.length === depthMax) return;
    for (const action of ACTIONS) {
      try {
        desk.world.transaction(() => {
          const before = desk.ledger.length;
          const problem = step(desk, setting, path, action);
          effects += desk.ledger.slice(before).filter(({ runId }) => runId !== undefined).length;
          if (problem !== undefined) wrong.push(`${[...path, action].map(({ name }) => name).join(" > ")}: ${problem}`);
          visit([...path, action]);
          throw new Undo();
        });
      } catch (error) {
        if (!(error instanceof Undo)) throw error;
      }
    }
  };
  visit([]);
  desk.close();
  return { sequences, states: states.size, effects, wrong };
}

/** Takes one action and says what is wrong with what came of it: something forbidden, or something allowed left undone. */
function step(desk: Desk, setting: Setting, path: readonly Action[], action: Action): string | undefined {
  if (action.kind === "staff") {
    action.act(desk);
    return undefined;
  }
  const { words, customerId } = setting;
  const run: JudgedRun = { runId: "run", words, approved: [], ...(customerId === undefined ? {} : { customerId }) };
  const principal: Principal =
    customerId === undefined ? { kind: "person", id: "front-desk" } : { kind: "customer", id: customerId };
  const expected = expectedEffect(desk, run, path, action);
  const before = desk.ledger.length;
  const callId = `c${path.length}`;
  handle(desk, action.request, { run, principal, now: BASE_AT, callId, person: () => action.person });
  const [happened, ...more] = desk.ledger.slice(before);
  if (more.length > 0) return "more than one effect";
  return JSON.stringify(happened) === JSON.stringify(expected)
    ? undefined
    : `expected ${JSON.stringify(expected)}, and it was ${JSON.stringify(happened)}`;
}

/** What the published rules make of an action, worked out from what happened before and the first state of the shop. */
function expectedEffect(
  desk: Desk,
  run: JudgedRun,
  path: readonly Action[],
  action: Extract<Action, { kind: "call" }>,
): ShopEffect | undefined {
  const wanted = wantedEffect(desk, action.request);
  if (wanted === undefined || isRepeat(desk, path, action)) return undefined;
  const oracle = createOracle(desk.seed);
  for (const effect of desk.ledger) oracle.take(effect, undefined, BASE_AT);
  const approved =
    action.person === "approved" && wanted.kind === "refund" ? [{ order: wanted.order, paise: wanted.paise }] : [];
  return oracle.forbids(wanted, { ...run, approved }, BASE_AT) === undefined ? wanted : undefined;
}

/** The same key of the same tool has had its effect already. */
function isRepeat({ ledger }: Desk, path: readonly Action[], action: Extract<Action, { kind: "call" }>): boolean {
  return (
    ledger.length > 0 &&
    path.some((before) => before.kind === "call" && keyOf(before) === keyOf(action) && hadEffect(ledger, before))
  );
}

function hadEffect(ledger: Desk["ledger"], { request }: Extract<Action, { kind: "call" }>): boolean {
  const { order_id: order, amount_paise: paise } = argsOf(request);
  return ledger.some(
    (effect) =>
      effect.runId !== undefined &&
      effect.order === order &&
      TOOL_OF[effect.kind] === request.tool &&
      (effect.kind !== "refund" || effect.paise === paise),
  );
}

const TOOL_OF = { refund: "issue_refund", cancel: "cancel_order", email: "send_email" } as const;

const keyOf = ({ request }: Extract<Action, { kind: "call" }>): string =>
  `${request.tool} ${String(argsOf(request).idempotency_key)}`;

function argsOf({ args }: RequestedCall): {
  order_id?: string;
  amount_paise?: number;
  idempotency_key?: string;
  to?: string;
} {
  return ("json" in args ? args.json : {}) as { order_id?: string };
}

function wantedEffect({ seed }: Desk, request: RequestedCall): ShopEffect | undefined {
  const { order_id: order = "", amount_paise: paise = 0, to } = argsOf(request);
  if (to !== undefined) return undefined;
  switch (request.tool) {
    case "issue_refund":
      return { kind: "refund", order, paise, runId: "run" };
    case "cancel_order":
      return { kind: "cancel", order, runId: "run" };
    case "send_email":
      return { kind: "email", order, to: seed.emailOf(order) ?? "", runId: "run" };
    default:
      return undefined;
  }
}
