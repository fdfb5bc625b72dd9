import type { CallState, RunEvent, RunState } from "../core/index.ts";
import { BELAY } from "./attributes.ts";
import { contentText, label, resultText, shortName } from "./content.ts";
import { BLOCKED_BY_GUARD, dispositionOf } from "./disposition.ts";
import type { AttributeValue } from "./span.ts";
import { type Draft, type EventOf, type PlacedEntry, type SpanBuilder, setAttributes } from "./span-builder.ts";

export interface CallSpans {
  take(entry: PlacedEntry, before: RunState | undefined, after: RunState): void;
}

interface Calls {
  readonly builder: SpanBuilder;
  readonly capture: boolean;
  /** Open and closed spans of calls; each call has one. */
  readonly tools: Map<string, Draft>;
  readonly waits: Map<string, Draft>;
  readonly settled: Set<string>;
  /** Place of a call among all that the run asked for, from 0. */
  readonly indexes: Map<string, number>;
}

/** `execute_tool`, `belay.authorize` and `belay.approval`. */
export function createCallSpans(builder: SpanBuilder, { capture }: { readonly capture: boolean }): CallSpans {
  const self: Calls = {
    builder,
    capture,
    tools: new Map(),
    waits: new Map(),
    settled: new Set(),
    indexes: new Map(),
  };
  return {
    take(entry, before, after) {
      const calls = touchedCalls(before, after);
      for (const { call } of calls) {
        if (!self.indexes.has(call.callId)) {
          self.indexes.set(call.callId, self.indexes.size);
        }
      }
      takeEvent(self, entry, calls, after);
      for (const call of calls) {
        if (call.outcome !== undefined && !self.settled.has(call.call.callId)) {
          settle(self, entry, call);
        }
      }
    },
  };
}

/** Calls of the turn, and those that the entry moved out of it; all others have their result already. */
function touchedCalls(before: RunState | undefined, after: RunState): readonly CallState[] {
  return [...after.earlierCalls.slice(before?.earlierCalls.length ?? 0), ...after.turn];
}

function takeEvent(self: Calls, entry: PlacedEntry, calls: readonly CallState[], after: RunState): void {
  const { event } = entry;
  if (event.type === "call.outcome_observed") {
    observed(self, entry, event, after);
  } else if ("callId" in event) {
    const call = calls.find((candidate) => candidate.call.callId === event.callId);
    if (call !== undefined) {
      takeCallEvent(self, entry, event, call);
    }
  }
}

type CallEvent = Exclude<Extract<RunEvent, { callId: string }>, EventOf<"call.outcome_observed">>;

function takeCallEvent(self: Calls, entry: PlacedEntry, event: CallEvent, call: CallState): void {
  switch (event.type) {
    case "call.decided":
      authorize(self, entry, event, call);
      // A read is run at once, without a recorded start.
      if (call.call.effect === "read" && call.status === "allowed") {
        openTool(self, entry, call);
      }
      break;
    case "approval.requested":
      openWait(self, entry, event, call);
      break;
    case "approval.resolved":
      closeWait(self, entry, call, event.answer, self.capture ? shortName(event.by.id) : undefined);
      break;
    case "approval.expired":
      closeWait(self, entry, call, "expired");
      break;
    case "call.started":
      openTool(self, entry, call);
      break;
    case "call.settled":
      noteSettled(self, entry, event, call);
      break;
  }
}

/** A run guard that blocks is no decision of the policy and shows on the call's own span. */
function authorize(self: Calls, entry: PlacedEntry, event: EventOf<"call.decided">, call: CallState): void {
  const { builder, capture } = self;
  const { verdict, code, ruleId, reason } = event.decision;
  if (code === BLOCKED_BY_GUARD) {
    return;
  }
  const span = builder.open(entry, {
    name: "belay.authorize",
    role: "CHAIN",
    subject: `authorize ${event.callId}`,
    attributes: {
      ...callAttributes(self, call),
      [BELAY.verdict]: verdict,
      [BELAY.code]: label(code),
      [BELAY.ruleId]: shortName(ruleId),
      [BELAY.recheck]: event.recheck,
      [BELAY.reason]: capture ? shortName(reason) : undefined,
    },
  });
  builder.close(span, entry);
}

function openWait(self: Calls, entry: PlacedEntry, event: EventOf<"approval.requested">, call: CallState): void {
  const { callId, approvalId } = event;
  const span = self.builder.open(entry, {
    name: "belay.approval",
    role: "CHAIN",
    subject: `approval ${approvalId}`,
    attributes: {
      ...callAttributes(self, call),
      [BELAY.approvalId]: approvalId,
      [BELAY.code]: label(call.approval?.code ?? ""),
    },
  });
  self.waits.set(callId, span);
}

function closeWait(self: Calls, entry: PlacedEntry, { call }: CallState, answer: string, by?: string): void {
  const span = self.waits.get(call.callId);
  if (span !== undefined) {
    setAttributes(span, { [BELAY.answer]: answer, [BELAY.answeredBy]: by });
    self.builder.close(span, entry);
    self.waits.delete(call.callId);
  }
}

function openTool(self: Calls, entry: PlacedEntry, call: CallState): Draft {
  const { builder, capture, tools } = self;
  const { names } = builder;
  const { callId, args } = call.call;
  const known = tools.get(callId);
  if (known !== undefined) {
    known.events.push({ name: "belay.attempt", at: entry.at, attributes: { [BELAY.attempts]: call.attempt } });
    return known;
  }
  const tool = label(call.call.tool);
  const span = builder.open(entry, {
    name: `execute_tool ${tool}`,
    role: "TOOL",
    subject: `tool ${callId}`,
    attributes: {
      [names.operation]: "execute_tool",
      ...callAttributes(self, call),
      [names.toolType]: "function",
      [BELAY.callStep]: call.step,
      [BELAY.callIndex]: self.indexes.get(callId),
      [BELAY.disposition]: dispositionOf(call),
      [names.toolArguments]: capture ? contentText(args) : undefined,
    },
  });
  tools.set(callId, span);
  return span;
}

/** What only the event knows, and the state does not keep. */
function noteSettled(self: Calls, entry: PlacedEntry, event: EventOf<"call.settled">, call: CallState): void {
  const { durationMs, notes } = event;
  const span = self.tools.get(call.call.callId);
  if (span === undefined) {
    return;
  }
  if (durationMs !== undefined && call.attempt === 0) {
    span.startMs = Math.max(span.startMs, entry.at - durationMs);
  }
  setAttributes(span, {
    [BELAY.filterNotes]: notes?.length,
    // What a filter found may quote outsiders, so it is content like a result.
    [BELAY.notes]: notes !== undefined && self.capture ? contentText([...notes]) : undefined,
  });
}

function settle(self: Calls, entry: PlacedEntry, call: CallState): void {
  const { builder, capture } = self;
  const { callId } = call.call;
  const { outcome } = call;
  if (outcome === undefined) {
    return;
  }
  self.settled.add(callId);
  closeWait(self, entry, call, "void");
  const span = self.tools.get(callId) ?? openTool(self, entry, call);
  const disposition = dispositionOf(call);
  setAttributes(span, {
    [BELAY.disposition]: disposition,
    [BELAY.outcome]: outcome.status,
    [BELAY.attempts]: call.attempt > 0 ? call.attempt : undefined,
    [BELAY.recovery]: call.recovery,
    [BELAY.blockedBy]: disposition === "blocked" ? shortName(call.decision?.ruleId ?? "") : undefined,
    [BELAY.untrusted]: outcome.status === "ok" ? outcome.untrusted : undefined,
    [builder.names.toolResult]: capture ? resultText(outcome) : undefined,
  });
  builder.close(span, entry, outcome.status === "ok" ? undefined : label(outcome.error.code));
}

/** A tool that was given up has still done something: evidence for whoever has to find out. */
function observed(
  self: Calls,
  entry: PlacedEntry,
  event: EventOf<"call.outcome_observed">,
  { turn, earlierCalls }: RunState,
): void {
  const { callId, outcome, differs } = event;
  const call = [...turn, ...earlierCalls].find((candidate) => candidate.call.callId === callId);
  const tool = self.tools.get(callId);
  if (call === undefined || tool === undefined) {
    return;
  }
  const span = self.builder.open(entry, {
    name: "belay.outcome_observed",
    role: "CHAIN",
    subject: `observed ${callId}`,
    parent: tool,
    attributes: { ...callAttributes(self, call), [BELAY.outcome]: outcome.status, [BELAY.differs]: differs },
  });
  self.builder.close(span, entry);
}

function callAttributes({ builder }: Calls, { call }: CallState): Record<string, AttributeValue> {
  return { [builder.names.toolName]: label(call.tool), [builder.names.toolCallId]: call.callId };
}
