import {
  type CallOutcome,
  canonicalize,
  type Decision,
  type Entry,
  type ModelOutput,
  type PreparedCall,
  type RunEvent,
} from "../core/index.ts";
import type { Output, Piece } from "./output.ts";

/** Tells what happens in a run, a line for each gate that a call comes to. */
export interface Story {
  /** Takes an entry that has been told before, so that later lines can name its calls. */
  recall(entry: Entry): void;
  tell(entry: Entry): void;
}

type Mark = "allowed" | "refused" | "waiting" | "approved" | "rejected" | "expired" | "done" | "failed" | "stopped";

const STYLES = {
  allowed: "green",
  approved: "green",
  done: "green",
  waiting: "yellow",
  expired: "yellow",
  refused: "red",
  rejected: "red",
  failed: "red",
  stopped: "red",
} as const satisfies Readonly<Record<Mark, "green" | "yellow" | "red">>;
const MARK_WIDTH = 9;
const ARGS_SHOWN_MAX = 160;

interface Known {
  readonly calls: Map<string, PreparedCall>;
  readonly decisions: Map<string, Decision>;
}

type Line = readonly [mark: Mark, what: string, why?: string | undefined];

export function createStory(output: Output): Story {
  const known: Known = { calls: new Map(), decisions: new Map() };
  return {
    recall: ({ event }) => remember(event, known),
    tell: ({ event }) => {
      remember(event, known);
      for (const line of linesOf(event, known)) {
        output.line(...pieces(line));
      }
    },
  };
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

function pieces([mark, what, why]: Line): readonly Piece[] {
  const head: Piece = { text: mark.padEnd(MARK_WIDTH), style: STYLES[mark] };
  return why === undefined ? ["  ", head, " ", what] : ["  ", head, " ", what, "  ", { text: why, style: "dim" }];
}

function linesOf(event: RunEvent, known: Known): readonly Line[] {
  if (event.type === "model.replied") {
    return replyLines(event.output, known);
  }
  const line = lineOf(event, known);
  return line === undefined ? [] : [line];
}

/** A call that is refused before any rule looks at it has no event of its own. */
function replyLines(output: ModelOutput, known: Known): readonly Line[] {
  switch (output.kind) {
    case "unreadable":
      return [["failed", "the model's reply cannot be read", output.problem]];
    case "calls":
      return output.calls.flatMap(({ callId, refusal }): Line[] =>
        refusal === undefined ? [] : [["refused", callText(known, callId), `${refusal.code}: ${refusal.message}`]],
      );
    case "final":
      return [];
  }
}

function lineOf(event: RunEvent, known: Known): Line | undefined {
  switch (event.type) {
    case "model.failed":
      return ["failed", "the model did not answer", `${event.code}: ${event.detail}`];
    case "limit.reached":
      return ["stopped", `limit ${event.limit}`, event.detail];
    case "call.decided":
      return decisionLine(event.decision, callText(known, event.callId), event.recheck);
    case "approval.requested":
      return waitingLine(event, known);
    case "approval.resolved":
      return [event.answer, `${callText(known, event.callId)} by ${event.by.id}`, event.note];
    case "approval.expired":
      return ["expired", callText(known, event.callId), "nobody answered in time"];
    case "call.reconciled": {
      const what = `${callText(known, event.callId)} ${event.outcome === "happened" ? "happened" : "did not happen"}`;
      return ["done", `${what}, says ${event.by.id}`, event.note];
    }
    case "call.settled":
      return outcomeLine(
        event.outcome,
        callText(known, event.callId),
        known.calls.get(event.callId)?.refusal !== undefined,
      );
    default:
      return undefined;
  }
}

function decisionLine(decision: Decision, call: string, isRecheck: true | undefined): Line | undefined {
  const why = `${decision.code}: ${decision.reason} (rule ${decision.ruleId})`;
  const whyNow = isRecheck ? `${why}, looked at again` : why;
  switch (decision.verdict) {
    case "allow":
      return ["allowed", call, whyNow];
    case "deny":
      return ["refused", call, whyNow];
    case "halt":
      return ["stopped", call, whyNow];
    case "ask":
      // The question itself follows at once, with its name; asked again after the answer, the answer holds.
      return isRecheck ? ["allowed", call, `${whyNow}; a person has approved it`] : undefined;
  }
}

function waitingLine(event: Extract<RunEvent, { type: "approval.requested" }>, known: Known): Line {
  const decision = known.decisions.get(event.callId);
  const why = decision === undefined ? "" : `${decision.code}: ${decision.reason}; `;
  const what = `${callText(known, event.callId)} for a person (approval ${event.approvalId})`;
  return ["waiting", what, `${why}until ${new Date(event.expiresAt).toISOString()}`];
}

function outcomeLine(outcome: CallOutcome, call: string, isTold: boolean): Line | undefined {
  switch (outcome.status) {
    case "ok":
      return ["done", call];
    case "denied":
    case "rejected":
    case "expired":
      // Its decision has been told.
      return undefined;
    case "refused":
      return isTold ? undefined : ["refused", call, `${outcome.error.code}: ${outcome.error.message}`];
    case "world_changed":
      return ["refused", call, `${outcome.error.code}: the world has changed since the question`];
    case "failed":
    case "unknown":
    case "not_run":
      return ["failed", call, `${outcome.error.code}: ${outcome.error.message}`];
  }
}

function callText({ calls }: Known, callId: string): string {
  const call = calls.get(callId);
  if (call === undefined) {
    return callId;
  }
  const args = canonicalize(call.args);
  const text = args.ok ? args.text : "{}";
  return `${call.tool} ${text.length > ARGS_SHOWN_MAX ? `${text.slice(0, ARGS_SHOWN_MAX)}…` : text}`;
}
