export {
  type Action,
  type ActionRegistry,
  type AnyAction,
  createActionRegistry,
  defineAction,
  isWithin,
} from "./action.ts";
export {
  type ActionGate,
  type ActionGateOptions,
  createActionGate,
  type DecideOptions,
  type ExecuteOptions,
} from "./action-gate.ts";
export { type Answer, type Approvals, type ApprovalsOptions, createApprovals, type Question } from "./approvals.ts";
export { levelRule } from "./level-rule.ts";
export type { ActionOutcome, ActionProblem } from "./outcome.ts";
export {
  type PermissionBudget,
  type PermissionBudgetOptions,
  permissionBudget,
  type RemainingPoints,
} from "./permission-budget.ts";
export {
  type Budget,
  type BudgetOptions,
  type Closed,
  createBudget,
  type PointsRequest,
  type Reserved,
} from "./points-account.ts";
export {
  createSanitiser,
  SANITISER_PHRASES,
  type Sanitiser,
  type SanitiserOptions,
  type Suspicion,
  sanitiserRule,
} from "./sanitiser.ts";
export type { StateTransactions } from "./state-transactions.ts";
export { createUndo, type Undo, type UndoneCall, type UndoOptions, type UndoReport, type UndoRequest } from "./undo.ts";
export { type UndoArguments, undoneAgentName } from "./undo-agent.ts";
