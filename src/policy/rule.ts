import type { CallState, JsonValue, MemoryTurn, PermissionLevel, Principal } from "../core/index.ts";

/** The call that a rule judges. */
export interface RuleCall {
  readonly callId: string;
  readonly tool: string;
  readonly args: JsonValue;
  readonly level: PermissionLevel;
}

/** What a rule may look at. */
export interface RuleContext {
  readonly tenant: string;
  readonly principal: Principal;
  readonly runId: string;
  readonly step: number;
  /** The user's own words in this run: never tool output, never memory. */
  readonly input: string;
  readonly memory: readonly MemoryTurn[];
  /** Every other call of the run so far, in order, with its decision and outcome; calls in flight included. */
  readonly calls: readonly CallState[];
  /** Milliseconds since the epoch. */
  readonly now: number;
  /** True when a person has approved the call and today's world is looked at again. */
  readonly recheck: boolean;
  /** Records what the rule read, for the decision's record; returns the value. */
  read<Value extends JsonValue>(name: string, value: Value): Value;
}

/** A closed type: anything else that a rule returns is `POLICY_ERROR`, a denial. */
export type Verdict =
  | { readonly verdict: "allow"; readonly code: string; readonly reason: string }
  | { readonly verdict: "deny"; readonly code: string; readonly reason: string }
  | { readonly verdict: "ask"; readonly code: string; readonly reason: string }
  | { readonly verdict: "halt"; readonly code: string; readonly reason: string };

/** Named code that gives a verdict on one call before it runs. It may read the world and must not change it. */
export interface Rule {
  readonly id: string;
  /** Tools that the rule speaks about; absent: all. An unknown name is a start-up error. */
  readonly tools?: readonly string[];
  /** `undefined` when the rule has nothing to say. Rules of `inTransaction` tools must answer without a promise. */
  decide(call: RuleCall, context: RuleContext): Verdict | undefined | Promise<Verdict | undefined>;
}

export function defineRule(rule: Rule): Rule {
  return rule;
}

export const allow = (code: string, reason: string): Verdict => ({ verdict: "allow", code, reason });
export const deny = (code: string, reason: string): Verdict => ({ verdict: "deny", code, reason });
/** A person decides. */
export const ask = (code: string, reason: string): Verdict => ({ verdict: "ask", code, reason });
/** The run ends. */
export const halt = (code: string, reason: string): Verdict => ({ verdict: "halt", code, reason });
