import type { CallOutcome, Decision, Entry, PreparedCall, RunEvent } from "../core/index.ts";

/** What the journal of one run says about its calls. */
export interface CaseTrail {
  /** One for each call that the model asked for, in order. */
  readonly codes: readonly string[];
  /** Tools that executed, in order. */
  readonly executed: readonly string[];
  readonly paused: boolean;
}

interface CallTrail {
  readonly call: PreparedCall;
  decision?: Decision;
  outcome?: CallOutcome;
  started: boolean;
}

const EXECUTED: ReadonlySet<CallOutcome["status"]> = new Set(["ok", "failed", "unknown"]);

/**
 * Reads the trail of calls from a run's entries.
 *
 * `codes` renames codes of the harness as the agent does. A call that was never judged, because the run ended first,
 * has the code of its outcome.
 */
export function trailOf(entries: readonly Entry[], codes: Readonly<Record<string, string>> = {}): CaseTrail {
  const calls = new Map<string, CallTrail>();
  const executed: string[] = [];
  for (const { event } of entries) {
    if (event.type === "model.replied" && event.output.kind === "calls") {
      for (const call of event.output.calls) {
        calls.set(call.callId, { call, started: false });
      }
    }
    const trail = "callId" in event ? calls.get(event.callId) : undefined;
    if (trail !== undefined) {
      follow(trail, event, executed);
    }
  }
  return {
    codes: [...calls.values()].map((trail) => renamed(codeOf(trail), codes)),
    executed,
    paused: entries.some(({ event }) => event.type === "approval.requested"),
  };
}

function follow(trail: CallTrail, event: RunEvent, executed: string[]): void {
  switch (event.type) {
    case "call.decided":
      // The first decision is what the policy said of the call; a later look at the world shows in the stop.
      trail.decision ??= event.decision;
      break;
    case "call.settled":
      trail.outcome ??= event.outcome;
      // A read has no start of its own: nothing has to be known of one that was lost.
      if (EXECUTED.has(event.outcome.status)) {
        execute(trail, executed);
      }
      break;
    case "call.started":
      execute(trail, executed);
      break;
    default:
      break;
  }
}

function execute(trail: CallTrail, executed: string[]): void {
  if (!trail.started) {
    trail.started = true;
    executed.push(trail.call.tool);
  }
}

function codeOf({ call, decision, outcome }: CallTrail): string {
  const code = decision?.code ?? call.refusal?.code;
  if (code !== undefined) {
    return code;
  }
  return outcome === undefined || outcome.status === "ok" ? "undecided" : outcome.error.code;
}

function renamed(code: string, codes: Readonly<Record<string, string>>): string {
  return (Object.hasOwn(codes, code) ? codes[code] : undefined) ?? code;
}
