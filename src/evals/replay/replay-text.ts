import { canonicalize } from "../../core/index.ts";
import type { ReplayedCall, ReplayedDecision, ReplayReport } from "./replay-decisions.ts";

/** Writes what would be decided otherwise today, and what money that is about. */
export function formatReplay({ runId, app, calls, effectsLeftOut, atStake }: ReplayReport): string {
  const changed = calls.filter(({ isChanged }) => isChanged);
  const money = Object.entries(atStake).map(([unit, amount]) => `${amount} ${unit}`);
  return [
    `run ${runId} against the rules of ${app}: ${calls.length} decisions, ${changed.length} changed`,
    ...changed.flatMap(changeLines),
    `money at stake: ${money.join(", ") || "none"}`,
    ...effectsLeftOut.map((sentence) => `note: ${sentence}`),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function changeLines({
  step,
  callId,
  tool,
  args,
  recheck,
  recorded,
  today,
  inputsDiffer,
  money,
}: ReplayedCall): string[] {
  const text = canonicalize(args);
  return [
    `  ${step}  ${callId}  ${tool} ${text.ok ? text.text : "{}"}${recheck ? " (after approval)" : ""}`,
    `       then  ${decisionText(recorded)}`,
    `       now   ${decisionText(today)}`,
    ...(money === undefined ? [] : [`       money ${money.amount} ${money.unit}`]),
    ...(inputsDiffer.length === 0
      ? []
      : [`       the world differs in what the rule read: ${inputsDiffer.join(", ")}`]),
  ];
}

function decisionText({ verdict, code, reason, ruleId }: ReplayedDecision): string {
  return `${verdict} ${code}: ${reason} (rule ${ruleId})`;
}
