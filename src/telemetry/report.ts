import { type CallState, type Entry, fold, terminationCode } from "../core/index.ts";
import { attributeNames, BELAY } from "./attributes.ts";
import { label, shortName } from "./content.ts";
import { type Disposition, dispositionOf } from "./disposition.ts";
import type { SpanRecord } from "./span.ts";

/** What a run did with its tools, as told by its journal or by its spans alone. */
export interface RunReport {
  /** Code of the termination; absent while the run has not ended. */
  readonly termination?: string;
  /** Model calls of the run that got a reply; those that wrote the summary of a compaction are not steps. */
  readonly modelReplies: number;
  /** Tools that executed, in the order in which the model asked for them. */
  readonly toolNames: readonly string[];
  readonly blocked: readonly { readonly tool: string; readonly guard: string }[];
  readonly invalid: readonly { readonly tool: string; readonly code: string }[];
  /** Calls that were not run for another reason, such as a decision of the policy or of a person. */
  readonly notRun: readonly { readonly tool: string; readonly disposition: Disposition; readonly code: string }[];
  readonly compactions: number;
}

interface ReportedCall {
  readonly tool: string;
  readonly disposition: string;
  readonly code: string;
  readonly guard: string;
}

/** The report of a run from its journal; an empty journal gives an empty report. */
export function reportFromRun(entries: readonly Entry[]): RunReport {
  const state = fold(entries);
  const termination = state?.termination;
  const calls = state === undefined ? [] : [...state.earlierCalls, ...state.turn];
  return reportOf(
    calls.map(reportedCall),
    termination === undefined ? undefined : label(terminationCode(termination)),
    {
      // The one reply of a run that was started with its calls is made up.
      modelReplies: state?.endsAfterTurn === true ? 0 : entries.filter(isReply).length,
      compactions: state?.compactions.length ?? 0,
    },
  );
}

function isReply({ event }: Entry): boolean {
  return event.type === "model.replied";
}

function reportedCall(state: CallState): ReportedCall {
  const { call, decision, outcome } = state;
  return {
    tool: label(call.tool),
    disposition: dispositionOf(state),
    code: outcome === undefined || outcome.status === "ok" ? "" : label(outcome.error.code),
    guard: shortName(decision?.ruleId ?? ""),
  };
}

/** The same report from the spans of one run, closed or open, in any order; content need not be captured. */
export function reportFromSpans(spans: readonly SpanRecord[]): RunReport {
  const calls = spans
    .filter((span) => span.attributes[BELAY.callIndex] !== undefined)
    .sort((left, right) => Number(left.attributes[BELAY.callIndex]) - Number(right.attributes[BELAY.callIndex]));
  const root = spans.find((span) => span.parentSpanId === undefined);
  const termination = root?.attributes[BELAY.termination];
  return reportOf(calls.map(callOfSpan), typeof termination === "string" ? termination : undefined, {
    modelReplies: spans.filter(isModelReply).length,
    compactions: spans.filter((span) => span.attributes[BELAY.tokensBefore] !== undefined).length,
  });
}

function callOfSpan({ attributes, semconv }: SpanRecord): ReportedCall {
  const names = attributeNames(semconv);
  return {
    tool: String(attributes[names.toolName] ?? ""),
    disposition: String(attributes[BELAY.disposition] ?? ""),
    code: String(attributes[names.errorType] ?? ""),
    guard: String(attributes[BELAY.blockedBy] ?? ""),
  };
}

function isModelReply({ attributes, semconv }: SpanRecord): boolean {
  const { inputTokens } = attributeNames(semconv);
  return attributes[inputTokens] !== undefined && attributes[BELAY.purpose] === undefined;
}

function reportOf(
  calls: readonly ReportedCall[],
  termination: string | undefined,
  counts: { readonly modelReplies: number; readonly compactions: number },
): RunReport {
  const having = (disposition: Disposition) => calls.filter((call) => call.disposition === disposition);
  const others = calls.filter(({ disposition }) => !LISTED.has(disposition));
  return {
    ...(termination !== undefined && { termination }),
    modelReplies: counts.modelReplies,
    toolNames: having("executed").map(({ tool }) => tool),
    blocked: having("blocked").map(({ tool, guard }) => ({ tool, guard })),
    invalid: having("invalid").map(({ tool, code }) => ({ tool, code })),
    notRun: others.map(({ tool, disposition, code }) => ({ tool, disposition: disposition as Disposition, code })),
    compactions: counts.compactions,
  };
}

/** `unsettled`: nothing has come of it yet. */
const LISTED: ReadonlySet<string> = new Set(["executed", "blocked", "invalid", "unsettled"]);
