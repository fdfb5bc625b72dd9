import type { Decision, PreparedCall, RunEvent } from "belay-harness";
import { formatRupees } from "../money.ts";
import type { Mark } from "./printer.ts";

interface GateLine {
  readonly mark: Mark;
  readonly what: string;
  readonly why?: string;
}

/** Turns the recorded events of a run into lines, one for each gate that a call comes to. */
export interface GateReader {
  read(event: RunEvent): readonly GateLine[];
}

export function createGateReader(): GateReader {
  const calls = new Map<string, PreparedCall>();
  const decisions = new Map<string, Decision>();
  const nameOf = (callId: string): string => callText(calls.get(callId)) ?? callId;
  return {
    read: (event) => {
      switch (event.type) {
        case "model.replied":
          return event.output.kind === "calls" ? event.output.calls.flatMap((call) => takeCall(calls, call)) : [];
        case "call.decided":
          decisions.set(event.callId, event.decision);
          return decided(event.decision, nameOf(event.callId), event.recheck === true);
        case "approval.requested":
          return [{ mark: "waiting", what: nameOf(event.callId), why: whyAsked(decisions.get(event.callId)) }];
        case "approval.resolved":
          return [
            event.answer === "approved"
              ? { mark: "approved", what: `${nameOf(event.callId)} by ${event.by.id}` }
              : { mark: "refused", what: `${nameOf(event.callId)} by ${event.by.id}` },
          ];
        case "call.settled":
          return event.outcome.status === "ok" && calls.get(event.callId)?.effect === "change"
            ? [{ mark: "done", what: nameOf(event.callId) }]
            : [];
        default:
          return [];
      }
    },
  };
}

/** A call that is refused before any rule looks at it has no event of its own. */
function takeCall(calls: Map<string, PreparedCall>, call: PreparedCall): readonly GateLine[] {
  calls.set(call.callId, call);
  const { refusal } = call;
  return refusal === undefined
    ? []
    : [{ mark: "refused", what: callText(call) ?? call.tool, why: `${refusal.code}: ${refusal.message}` }];
}

function decided(decision: Decision, what: string, isRecheck: boolean): readonly GateLine[] {
  const why = `${decision.code}: ${decision.reason} (rule ${decision.ruleId})`;
  switch (decision.verdict) {
    case "allow":
      return [{ mark: "allowed", what, why }];
    case "ask":
      // The question itself follows; asked again after a person's yes, that yes covers it.
      return isRecheck ? [{ mark: "allowed", what, why: `${why}, judged again after the approval` }] : [];
    case "deny":
    case "halt":
      return [{ mark: "refused", what, why }];
  }
}

function whyAsked(decision: Decision | undefined): string {
  return decision === undefined ? "a person decides" : `${decision.code}: ${decision.reason}; a person decides`;
}

/** `issue_refund O-1001 Rs 1,500`: a tool with what matters of its arguments. */
function callText(call: PreparedCall | undefined): string | undefined {
  if (call === undefined) {
    return undefined;
  }
  const { args } = call;
  const fields = new Map(typeof args === "object" && args !== null ? Object.entries(args) : []);
  const orderId = fields.get("order_id");
  const amount = fields.get("amount_paise");
  return [
    call.tool,
    ...(orderId === undefined ? [] : [String(orderId)]),
    ...(typeof amount === "number" ? [formatRupees(amount)] : []),
  ].join(" ");
}
