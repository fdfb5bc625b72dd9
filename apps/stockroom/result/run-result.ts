import type { Compaction, Entry, FormatToolError, JsonValue, RunResult } from "belay-harness";
import { type CallRecord, callRecord } from "./call-record.ts";
import { type GuardEvent, guardEventsOf } from "./guard-events.ts";

interface ToolRecord extends CallRecord {
  /** Lines that quarantine took out of the result. */
  readonly quarantinedLines: number;
  readonly latencyMs: number;
}

interface Transition {
  readonly step: number;
  readonly fromState: string;
  readonly toState: string;
  readonly reason: string;
}

/** A run as the source shows it; everything is read from the journal. */
export interface StockroomResult {
  readonly runId: string;
  readonly caseId: string | null;
  readonly query: string;
  readonly finalAnswer: string | null;
  readonly terminationReason: string;
  readonly transitionLog: readonly Transition[];
  readonly toolRecords: readonly ToolRecord[];
  /** Of executed calls alone, in order. */
  readonly toolNames: readonly string[];
  readonly executedToolCalls: number;
  readonly blockedToolCalls: number;
  readonly invalidToolCalls: number;
  readonly guardEvents: readonly GuardEvent[];
  readonly compactionEvents: readonly Compaction[];
  readonly usage: {
    readonly inputTokens: number;
    readonly outputTokens: number;
    readonly totalTokens: number;
    readonly modelCalls: number;
  };
}

/** Reads the result of a finished run; `entries` are those of its journal. */
export function stockroomResult(
  result: RunResult,
  entries: readonly Entry[],
  {
    caseId = null,
    formatToolError,
  }: { readonly caseId?: string | null; readonly formatToolError?: FormatToolError } = {},
): StockroomResult {
  const { state, usage } = result;
  const settled = settlements(entries);
  const toolRecords = result.calls.map(
    (call): ToolRecord => ({ ...callRecord(call, formatToolError), ...(settled.get(call.call.callId) ?? NOTHING) }),
  );
  const guardEvents = guardEventsOf(result);
  const [stopped] = guardEvents;
  return {
    runId: result.runId,
    caseId,
    query: state.input,
    finalAnswer: result.answer ?? null,
    terminationReason: result.label ?? result.status,
    transitionLog: state.phaseChanges.map(({ step, from, to, reason }) => ({
      step,
      fromState: from,
      toState: to,
      reason: to === "FAILED" && stopped !== undefined ? `guard:${stopped.guard}` : reason,
    })),
    toolRecords,
    toolNames: toolRecords.filter(({ executed }) => executed).map(({ name }) => name),
    executedToolCalls: toolRecords.filter(({ executed }) => executed).length,
    blockedToolCalls: toolRecords.filter(({ blockedBy }) => blockedBy !== null).length,
    invalidToolCalls: toolRecords.filter(({ validationError }) => validationError !== null).length,
    guardEvents,
    compactionEvents: state.compactions,
    usage: {
      inputTokens: usage.inputTokens,
      outputTokens: usage.outputTokens,
      totalTokens: usage.inputTokens + usage.outputTokens,
      modelCalls: usage.modelCalls,
    },
  };
}

const NOTHING = { quarantinedLines: 0, latencyMs: 0 };

function settlements(entries: readonly Entry[]): ReadonlyMap<string, typeof NOTHING> {
  return new Map(
    entries.flatMap(({ event }) =>
      event.type === "call.settled"
        ? [[event.callId, { quarantinedLines: linesIn(event.notes ?? []), latencyMs: event.durationMs ?? 0 }] as const]
        : [],
    ),
  );
}

function linesIn(notes: readonly JsonValue[]): number {
  for (const note of notes) {
    const { filter, note: told } = note as { readonly filter?: JsonValue; readonly note?: JsonValue };
    if (filter === "quarantine" && typeof told === "object" && told !== null && "lines" in told) {
      return Number((told as { readonly lines: JsonValue }).lines);
    }
  }
  return 0;
}
