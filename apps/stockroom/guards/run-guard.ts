import type { JsonValue } from "belay-harness";
import type { TerminationReason } from "../labels.ts";
import type { CallRecord } from "../result/call-record.ts";

/** A call that fits its schema and has not been judged yet. */
interface GuardedCall {
  readonly name: string;
  readonly arguments: JsonValue;
}

interface GuardContext {
  /** The user's own words. */
  readonly query: string;
  /** Model calls made so far. */
  readonly step: number;
  /** Every other call of the run so far, in order. */
  readonly records: readonly CallRecord[];
}

/** The call does not run; the model hears why and the run goes on. The message must not repeat the arguments. */
export interface BlockCall {
  readonly kind: "block_call";
  readonly guard: string;
  readonly message: string;
}

/** The run ends for one of the reasons that there are; a guard makes no new one. */
export interface GuardVerdict {
  readonly kind: "guard_verdict";
  readonly guard: string;
  readonly reason: TerminationReason;
  readonly detail: string;
}

/** Code of the app that looks at each call before anything else does. */
export interface RunGuard {
  readonly name: string;
  /** `null`: nothing to say. Anything but the three shapes, and anything thrown, fails the run as a programming error. */
  checkToolCall(call: GuardedCall, context: GuardContext): null | BlockCall | GuardVerdict;
}

export function blockCall(guard: string, message: string): BlockCall {
  return { kind: "block_call", guard, message };
}

export function guardVerdict(guard: string, reason: TerminationReason, detail: string): GuardVerdict {
  return { kind: "guard_verdict", guard, reason, detail };
}
