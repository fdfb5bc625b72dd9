import type { UsageTotal } from "../core/index.ts";
import type { RunResult } from "../engine/index.ts";
import { type ApprovalRow, approvalIsIntact, type RunKey } from "../journal/index.ts";
import type { Output } from "./output.ts";
import { terminalLines } from "./terminal-text.ts";

/** Prints how a run stands: the answer, then one line with its id, label and price. */
export function printResult(output: Output, result: RunResult): void {
  if (result.answer !== undefined) {
    output.line();
    for (const line of terminalLines(result.answer)) {
      output.line({ text: line, style: "bold" });
    }
  }
  output.line();
  output.line(`${result.runId}  ${labelOf(result)}  ${usageText(result.usage)}`);
  if (result.nextRun !== undefined) {
    output.line(`the message that waited is run ${result.nextRun.runId}`);
  }
  for (const row of result.approvals.filter((approval) => approval.status === "pending")) {
    output.line(
      `answer with: belay approve ${row.approvalId} --by <person>, or belay reject ${row.approvalId} --by <person>`,
    );
  }
}

export function labelOf(result: RunResult): string {
  return result.label ?? result.status;
}

export function usageText(usage: UsageTotal): string {
  const tokens = `${usage.inputTokens + usage.outputTokens} tokens${usage.estimated ? " (in part estimated)" : ""}`;
  return `${usage.modelCalls} model calls, ${tokens}, ${costText(usage)}`;
}

/** Unknown is never zero. */
function costText({ costNanoUsd, costUnknown }: UsageTotal): string {
  const known = `$${(costNanoUsd / 1e9).toFixed(6)}`;
  return costUnknown ? `cost unknown (known part ${known})` : known;
}

/** A result as other programs read it. */
export function resultJson(result: RunResult, withTransitions: boolean): Record<string, unknown> {
  return {
    ...keyJson(result),
    conversationId: result.conversationId,
    status: result.status,
    label: labelOf(result),
    termination: result.termination ?? null,
    answer: result.answer ?? null,
    calls: result.calls,
    approvals: result.approvals,
    usage: usageJson(result.usage),
    nextRun: result.nextRun ?? null,
    ...(withTransitions && { transitions: result.state.phaseChanges }),
  };
}

export function usageJson(usage: UsageTotal): Record<string, unknown> {
  const { costNanoUsd, costUnknown, ...counts } = usage;
  return { ...counts, costNanoUsd: costUnknown ? null : costNanoUsd };
}

function keyJson({ tenant, runId }: RunKey): RunKey {
  return { tenant, runId };
}

/** One approval with everything that a person has to see before answering. */
export function printApproval(output: Output, row: ApprovalRow): void {
  const style = row.status === "pending" ? "yellow" : "dim";
  const isIntact = approvalIsIntact(row);
  const status = isIntact ? ({ text: row.status, style } as const) : ({ text: "TAMPERED", style: "red" } as const);
  output.line({ text: row.approvalId, style: "bold" }, "  ", status, `  run ${row.runId}`);
  if (!isIntact) {
    output.line("  the call below is not the one that was asked about: somebody edited the database. Do not answer;");
    output.line("  see belay audit verify, and belay doctor --rebuild for what the journal says");
  }
  output.line(`  call       ${row.tool} ${JSON.stringify(row.args)}`);
  output.line(`  why        ${row.code}: ${row.reason} (rule ${row.ruleId})`);
  output.line(`  asked by   ${row.requester.kind} ${row.requester.id} at ${timeText(row.requestedAt)}`);
  if (row.status === "pending") {
    output.line(`  expires    ${timeText(row.expiresAt)}`);
  }
  if (row.resolvedAt !== undefined) {
    const by = row.resolvedBy === undefined ? "" : ` by ${row.resolvedBy.kind} ${row.resolvedBy.id}`;
    output.line(`  resolved   ${row.status}${by} at ${timeText(row.resolvedAt)}${row.note ? `: ${row.note}` : ""}`);
  }
}

export function timeText(milliseconds: number): string {
  return Number.isFinite(new Date(milliseconds).getTime())
    ? new Date(milliseconds).toISOString()
    : String(milliseconds);
}
