import { z } from "zod";
import {
  type ActionGateOptions,
  type AnyAction,
  createActionGate,
  defineAction,
  permissionBudget,
} from "../../src/gate/index.ts";
import { createMemoryStore } from "../../src/journal/index.ts";

export const AMY = { kind: "customer", id: "amy" } as const;
export const DANA = { kind: "person", id: "dana" } as const;

const input = z.strictObject({ id: z.string(), note: z.string().optional() });

/** One action of each level; each writes down what it did. */
export function actionsOf(effects: string[]): readonly AnyAction[] {
  const action = (name: string, level: "read" | "write" | "admin" | "irreversible", cost: number) =>
    defineAction({
      name,
      description: `An action of level ${level}`,
      level,
      recovery: level === "read" ? "read" : "keyed",
      cost,
      input,
      execute: async ({ id }) => {
        effects.push(`${name} ${id}`);
        return { id };
      },
    });
  return [
    action("look", "read", 1),
    action("note", "write", 5),
    action("configure", "admin", 10),
    action("erase", "irreversible", 40),
  ];
}

export function gateOf(change: Partial<ActionGateOptions> = {}) {
  const effects: string[] = [];
  const store = change.store ?? createMemoryStore();
  const options: ActionGateOptions = {
    actions: actionsOf(effects),
    budget: permissionBudget({ total: 100 }),
    store,
    ...change,
  };
  const points = async (budget = "points") => {
    const { used, reserved } = await store.budget("default", budget);
    return [used, reserved];
  };
  return { effects, store, options, gate: createActionGate(options), points };
}
