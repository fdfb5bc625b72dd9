import { type PermissionLevel, printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { type AnyTool, contractOf, type Tool, type ToolSchema } from "../tool/index.ts";

/** Something that may be done, what it costs, and how much harm it can do: a tool with a price. */
export interface Action<Schema extends ToolSchema = ToolSchema, Value = unknown> extends Tool<Schema, Value> {
  /** Points of the permission budget, a whole number from 0. */
  readonly cost: number;
}

// biome-ignore lint/suspicious/noExplicitAny: a registry holds actions of any input
export type AnyAction = Action<any, unknown>;

/** Declares an action. The arguments' type comes from the schema. */
export function defineAction<const Schema extends ToolSchema, Value>(
  action: Action<Schema, Value>,
): Action<Schema, Value> {
  return action;
}

/** The actions that exist; whatever is not here may not be done. */
export interface ActionRegistry {
  readonly names: readonly string[];
  /** Throws `BELAY_ACTION_UNKNOWN`, an error of permission: what nobody registered, nobody may do. */
  get(name: string): AnyAction;
  /** Whether the action exists and is of this level or a lower one. */
  isAllowed(name: string, ceiling: PermissionLevel): boolean;
}

const LEVELS: readonly PermissionLevel[] = ["read", "write", "admin", "irreversible"];

/** Whether `level` is `ceiling` or below it: read < write < admin < irreversible. */
export function isWithin(level: PermissionLevel, ceiling: PermissionLevel): boolean {
  const [place, top] = [LEVELS.indexOf(level), LEVELS.indexOf(ceiling)];
  // A level that does not exist is above every other one, and as a ceiling lets nothing through.
  return place !== -1 && place <= top;
}

/**
 * Registers actions.
 *
 * Throws `BELAY_ACTION_INVALID` for a cost that is no whole number from 0, `BELAY_TOOL_DUPLICATE` for a name that occurs
 * twice, and what `contractOf` throws for a tool that could not be run safely.
 */
export function createActionRegistry(actions: readonly AnyAction[]): ActionRegistry {
  const byName = new Map<string, AnyAction>();
  for (const action of actions) {
    const { name } = contractOf(action as AnyTool);
    if (!Number.isSafeInteger(action.cost) || action.cost < 0) {
      throw new BelayError(
        "BELAY_ACTION_INVALID",
        `The action ${name} has the cost ${String(action.cost)}. Give it a whole number of points, 0 if it is free.`,
      );
    }
    if (byName.has(name)) {
      throw new BelayError("BELAY_TOOL_DUPLICATE", `Two actions are named "${name}". Rename one of them.`);
    }
    byName.set(name, action);
  }
  const names = Object.freeze([...byName.keys()]);
  return {
    names,
    get(name) {
      const action = byName.get(name);
      if (action === undefined) {
        throw new BelayError("BELAY_ACTION_UNKNOWN", unknownAction(name, names));
      }
      return action;
    },
    isAllowed(name, ceiling) {
      const action = byName.get(name);
      return action !== undefined && isWithin(action.level, ceiling);
    },
  };
}

function unknownAction(name: string, names: readonly string[]): string {
  return (
    `Nobody may do "${printable(String(name), 80)}": it is not a registered action. ` +
    `Register it, or use one of ${names.join(", ") || "(none)"}.`
  );
}
