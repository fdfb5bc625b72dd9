import type { Decision, JsonValue, PreparedCall, RunEvent } from "../../../core/index.ts";
import type { StoredEntry } from "../../../journal/index.ts";
import type { Tone } from "../show/badge.tsx";
import { codePointName } from "../show/code-points.ts";
import { costText, countText } from "../show/numbers.ts";
import { durationText } from "../show/times.tsx";
import { FAILURE_WORDS, LIMIT_WORDS } from "./words.ts";

/** One entry of a run's journal, as people are told it. */
export interface StoryItem {
  readonly seq: number;
  readonly at: number;
  readonly tone: Tone;
  /** What happened, in a word or two. */
  readonly mark: string;
  /** Of which call. */
  readonly call?: { readonly callId: string; readonly tool: string; readonly args: JsonValue };
  /** Why, or what of it; may hold foreign text. */
  readonly why?: string;
  readonly code?: string;
  readonly ruleId?: string;
  /** Whether a gate said it: what a customer's conversation shows. */
  readonly isGate: boolean;
  readonly event: RunEvent;
}

interface Known {
  readonly calls: Map<string, PreparedCall>;
  readonly decisions: Map<string, Decision>;
}

type Told = Pick<StoryItem, "tone" | "mark"> &
  Partial<Pick<StoryItem, "why" | "code" | "ruleId" | "isGate">> & { readonly callId?: string };

/** Tells a run from its journal, an item for each entry, in order. Pure. */
export function storyOf(entries: readonly StoredEntry[]): readonly StoryItem[] {
  const known: Known = { calls: new Map(), decisions: new Map() };
  return entries.flatMap(({ seq, at, event }) => {
    remember(event, known);
    return toldOf(event, known).map(({ callId, ...told }): StoryItem => {
      const call = callId === undefined ? undefined : known.calls.get(callId);
      return {
        seq,
        at,
        event,
        isGate: false,
        ...told,
        ...(call !== undefined && { call: { callId: call.callId, tool: call.tool, args: call.args } }),
      };
    });
  });
}

function remember(event: RunEvent, { calls, decisions }: Known): void {
  if (event.type === "model.replied" && event.output.kind === "calls") {
    for (const call of event.output.calls) {
      calls.set(call.callId, call);
    }
  } else if (event.type === "call.decided") {
    decisions.set(event.callId, event.decision);
  }
}

function toldOf(event: RunEvent, known: Known): readonly Told[] {
  switch (event.type) {
    case "model.replied":
      return replied(event);
    case "call.decided":
    case "call.started":
    case "call.settled":
    case "call.outcome_observed":
    case "call.reconciled":
      return [callTold(event, known)];
    case "approval.requested":
    case "approval.resolved":
    case "approval.expired":
      return [approvalTold(event, known)];
    case "budget.reserved":
    case "budget.settled":
    case "budget.released":
      return [budgetTold(event)];
    default:
      return [runTold(event)];
  }
}

type EventOf<Type extends RunEvent["type"]> = Extract<RunEvent, { type: Type }>;

function replied({ output, usage, costNanoUsd }: EventOf<"model.replied">): readonly Told[] {
  const spent = `${countText(usage.inputTokens)} tokens in, ${countText(usage.outputTokens)} out${
    usage.estimated === true ? " (estimated)" : ""
  }, ${costText(costNanoUsd)}`;
  if (output.kind === "unreadable") {
    return [{ tone: "bad", mark: "reply unreadable", why: `${output.problem}. ${spent}`, isGate: true }];
  }
  if (output.kind === "final") {
    return [{ tone: "info", mark: "model answered", why: spent }];
  }
  const refused = output.calls.flatMap(({ callId, refusal }): Told[] =>
    refusal === undefined
      ? []
      : [{ tone: "bad", mark: "refused", callId, code: refusal.code, why: refusal.message, isGate: true }],
  );
  const names = output.calls.map(({ tool }) => tool).join(", ");
  return [{ tone: "info", mark: "model asked", why: `${names}. ${spent}` }, ...refused];
}

function callTold(
  event: EventOf<"call.decided" | "call.started" | "call.settled" | "call.outcome_observed" | "call.reconciled">,
  known: Known,
): Told {
  const { callId } = event;
  switch (event.type) {
    case "call.decided":
      return { callId, ...decided(event) };
    case "call.started":
      return { callId, tone: "info", mark: "started", why: `attempt ${event.attempt}` };
    case "call.settled":
      return { callId, ...settled(event, known.calls.get(callId)?.refusal !== undefined) };
    case "call.outcome_observed":
      return {
        callId,
        tone: event.differs ? "bad" : "quiet",
        mark: "outcome seen later",
        why: event.differs ? "it differs from the recorded outcome" : "it is the recorded outcome",
      };
    case "call.reconciled": {
      const mark = event.outcome === "happened" ? "found to have happened" : "found not to have happened";
      return { callId, tone: "info", mark, why: `${event.by.id}: ${event.note}`, isGate: true };
    }
  }
}

function decided({ decision, recheck }: EventOf<"call.decided">): Omit<Told, "callId"> {
  const { verdict, code, reason, ruleId } = decision;
  const why = recheck === true ? `${reason}; looked at again after the answer` : reason;
  switch (verdict) {
    case "allow":
      return { tone: "good", mark: "allowed", why, code, ruleId, isGate: true };
    case "deny":
      return { tone: "bad", mark: "refused", why, code, ruleId, isGate: true };
    case "halt":
      return { tone: "bad", mark: "stopped", why, code, ruleId, isGate: true };
    case "ask":
      return recheck === true
        ? { tone: "good", mark: "allowed", why: `${why}, and a person has approved it`, code, ruleId, isGate: true }
        : { tone: "wait", mark: "needs a person", why, code, ruleId };
  }
}

function settled({ outcome, durationMs }: EventOf<"call.settled">, isTold: boolean): Omit<Told, "callId"> {
  if (outcome.status === "ok") {
    const took = durationMs === undefined ? {} : { why: `took ${durationText(durationMs)}` };
    return { tone: "good", mark: "done", ...took, isGate: true };
  }
  const { code, message } = outcome.error;
  const isSilent = isTold || ["denied", "rejected", "expired"].includes(outcome.status);
  return { tone: "bad", mark: FAILURE_WORDS[outcome.status], code, why: message, isGate: !isSilent };
}

function approvalTold(
  event: EventOf<"approval.requested" | "approval.resolved" | "approval.expired">,
  known: Known,
): Told {
  const { callId } = event;
  const decision = known.decisions.get(callId);
  switch (event.type) {
    case "approval.requested":
      return {
        callId,
        tone: "wait",
        mark: "waiting for a person",
        isGate: true,
        ...(decision !== undefined && { why: decision.reason, code: decision.code, ruleId: decision.ruleId }),
      };
    case "approval.resolved": {
      const note = event.note === undefined || event.note === "" ? "" : `: ${event.note}`;
      const tone = event.answer === "approved" ? "good" : "bad";
      return { callId, tone, mark: event.answer, why: `by ${event.by.id}${note}`, isGate: true };
    }
    case "approval.expired":
      return { callId, tone: "bad", mark: "expired", why: "nobody answered in time", isGate: true };
  }
}

function budgetTold(event: EventOf<"budget.reserved" | "budget.settled" | "budget.released">): Told {
  const amount = event.type === "budget.released" ? "" : `, ${countText(event.amount)}`;
  return { tone: "quiet", mark: `budget ${event.type.slice("budget.".length)}`, why: `${event.budget}${amount}` };
}

function runTold(event: Exclude<RunEvent, { callId: string } | EventOf<"model.replied"> | { budget: string }>): Told {
  switch (event.type) {
    case "run.started":
      return { tone: "info", mark: "run started", why: `${event.agent.name}, revision ${event.agent.revision}` };
    case "segment.started":
      return { tone: "quiet", mark: "worker took it", why: `${event.worker}, fence ${event.fence}` };
    case "model.requested":
      return { tone: "quiet", mark: "model called", why: event.model ?? "" };
    case "model.failed":
      return { tone: "bad", mark: "model failed", why: event.detail, code: event.code, isGate: true };
    case "context.compacted":
      return { tone: "quiet", mark: "context compacted", why: `${event.tokensBefore} to ${event.tokensAfter} tokens` };
    case "limit.reached":
      return { tone: "bad", mark: "limit reached", why: `${LIMIT_WORDS[event.limit]} ${event.detail}`, isGate: true };
    case "message.queued":
      return { tone: "info", mark: "message waits", why: "it starts the next run when this one ends" };
    case "run.cancel_requested":
      return { tone: "bad", mark: "cancel asked", why: `by ${event.by.id}`, isGate: true };
    case "run.ended":
      return event.termination.kind === "completed"
        ? { tone: "good", mark: "run ended" }
        : { tone: "bad", mark: "run ended", why: event.termination.kind };
    case "run.followed":
      return { tone: "quiet", mark: "run followed", why: event.nextRunId };
    default:
      return { tone: "quiet", mark: "unknown event", why: codePointName(0) };
  }
}
