import type { CallState, RunState } from "../../core/index.ts";
import { type ApprovalRow, approvalIsIntact, type RunRow } from "../../journal/index.ts";
import type { ServerDeps } from "../deps.ts";

/** A line of the run index as the API shows it. */
export function runSummary({ apps }: ServerDeps, row: RunRow): Record<string, unknown> {
  const app = [...apps.values()].find(({ harness }) => harness.agent.name === row.agent);
  const { tenant: _tenant, ...shown } = row;
  return {
    ...shown,
    ...(app === undefined ? {} : { app: app.name }),
    ...(app === undefined || row.termination === undefined ? {} : { label: app.labelOf(row.termination) }),
  };
}

/** A run with its calls and open questions. */
export function runView(
  deps: ServerDeps,
  row: RunRow,
  state: RunState,
  approvals: readonly ApprovalRow[],
): Record<string, unknown> {
  const { costNanoUsd, costUnknown, ...usage } = state.usage;
  return {
    ...runSummary(deps, row),
    phase: state.phase,
    calls: [...state.earlierCalls, ...state.turn].map(callView),
    approvals: approvals.map(approvalView),
    usage: { ...usage, costNanoUsd: costUnknown ? null : costNanoUsd },
  };
}

export function approvalView({ tenant: _tenant, ...row }: ApprovalRow): Record<string, unknown> {
  return { ...row, isIntact: approvalIsIntact(row) };
}

function callView({ call, status, decision, outcome, reconciled }: CallState): Record<string, unknown> {
  const { callId, tool, args } = call;
  return {
    callId,
    tool,
    args,
    status,
    ...(decision === undefined
      ? {}
      : {
          decision: {
            verdict: decision.verdict,
            code: decision.code,
            reason: decision.reason,
            ruleId: decision.ruleId,
          },
        }),
    ...(outcome === undefined
      ? {}
      : {
          outcome:
            outcome.status === "ok"
              ? { status: outcome.status }
              : { status: outcome.status, code: outcome.error.code, message: outcome.error.message },
        }),
    ...(reconciled === undefined
      ? {}
      : {
          reconciled: {
            outcome: reconciled.outcome,
            by: reconciled.by,
            note: reconciled.note,
            at: reconciled.at,
          },
        }),
  };
}
