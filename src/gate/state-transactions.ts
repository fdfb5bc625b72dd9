import type { Rollback } from "../rollback/index.ts";
import { isToolFailure, toolFailure } from "../tool/index.ts";
import type { AnyAction } from "./action.ts";

/** State of the application that lives in memory, and who keeps its snapshots. */
export interface StateTransactions {
  readonly rollback: Rollback;
  /** All that the changing actions change. An action with an effect elsewhere does not belong in such a gate. */
  readonly state: object;
}

/** Carries a failure that an action returned out of its transaction, so that the state is put back. */
class Failed extends Error {
  readonly failure: unknown;
  constructor(failure: unknown) {
    super("the action failed");
    this.failure = failure;
  }
}

/**
 * The action inside a transaction on the state: whatever way it fails, the state is as it was before, so its failure is
 * known to have had no effect. What it threw goes to `onError` and to nobody else.
 */
export function inStateTransaction(
  action: AnyAction,
  { rollback, state }: StateTransactions,
  onError: (error: unknown) => void,
): AnyAction {
  if (action.level === "read") return action;
  return {
    ...action,
    execute: async (args, context) => {
      try {
        return await rollback.transaction(state, action.name, async () => {
          const value = await action.execute(args, context);
          if (isToolFailure(value)) throw new Failed(value);
          return value;
        });
      } catch (error) {
        if (error instanceof Failed) return error.failure;
        onError(error);
        return toolFailure("rolled_back", "the action failed; nothing of it is left");
      }
    },
  };
}
