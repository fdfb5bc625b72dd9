import { describe, expect, it } from "vitest";
import { openDesk } from "./shop/direct.ts";
import { ACTIONS, explore, SETTINGS } from "./shop/exhaustive.ts";

const DEPTH = 3;
const SEQUENCES = 1 + ACTIONS.length + ACTIONS.length ** 2 + ACTIONS.length ** 3;

describe("every sequence of actions at the shop", () => {
  it.each(SETTINGS)(
    "up to depth 3 does exactly what the rules say: $name",
    (setting) => {
      const { sequences, states, effects, wrong } = explore(setting, DEPTH);
      expect(wrong.slice(0, 5)).toEqual([]);
      expect(SEQUENCES).toBe(18_279);
      expect({ sequences, states, effects }).toEqual({
        sequences: SEQUENCES,
        states: setting.states,
        effects: setting.effects,
      });
    },
    120_000,
  );
});

/** Rules whose condition the tool states again inside its own write, so that nothing else happens without them. */
const STATED_AGAIN = ["order_exists", "cancellable", "order_not_cancelled", "amount_remaining"];

describe("the same walk with one rule left out", () => {
  const desk = openDesk();
  const rules = desk.agent.rules.map(({ id }) => id);
  desk.close();

  it.each(rules)(
    "sees that %s is missing, or that the tool holds without it",
    (without) => {
      const found = SETTINGS.flatMap((setting) => explore(setting, 2, without).wrong);
      expect(found.length > 0).toBe(!STATED_AGAIN.includes(without));
    },
    60_000,
  );
});
