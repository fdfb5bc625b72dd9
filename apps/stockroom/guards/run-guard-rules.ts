import {
  defineRule,
  deny,
  halt,
  type JsonValue,
  type Rule,
  type RuleCall,
  type RuleContext,
  type Verdict,
} from "belay-harness";
import { TERMINATION_REASONS } from "../labels.ts";
import { callRecord } from "../result/call-record.ts";
import { BLOCKED_BY_GUARD } from "../tool-errors.ts";
import type { BlockCall, GuardVerdict, RunGuard } from "./run-guard.ts";

/** Run guards as rules of the agent. */
export interface RunGuardRules {
  readonly rules: readonly Rule[];
  /** The error of a guard that broke its contract in this run, once; the run itself has ended without the call. */
  takeError(runId: string): Error | undefined;
}

const RULE_PREFIX = "run_guard.";
/** How a run ends whose guard broke its contract; whoever uses `takeError` never sees it. */
const GUARD_INVALID = "GUARD_INVALID";
/** Errors that nobody has taken; more runs than this at once are another program's business. */
const ERRORS_MAX = 1000;

/** Name of the run guard behind a rule id; `undefined` for a rule of another kind. */
export function guardNameOf(ruleId: string): string | undefined {
  return ruleId.startsWith(RULE_PREFIX) ? ruleId.slice(RULE_PREFIX.length) : undefined;
}

/**
 * Makes rules of run guards: a block denies with `blocked_by_guard`, a verdict halts with its reason.
 *
 * A guard that gives or throws anything else is a mistake in the program: the call does not run, the run ends, and
 * `takeError` gives the `TypeError`.
 */
export function runGuardRules(guards: readonly RunGuard[]): RunGuardRules {
  const errors = new Map<string, Error>();
  const remember = (runId: string, error: Error): void => {
    const [oldest] = errors.keys();
    if (errors.size >= ERRORS_MAX && oldest !== undefined) {
      errors.delete(oldest);
    }
    errors.set(runId, error);
  };
  return {
    rules: guards.map((guard) =>
      defineRule({
        id: RULE_PREFIX + guard.name,
        decide: (call, context) => {
          try {
            return verdictOf(ask(guard, call, context), call, context);
          } catch (error) {
            remember(context.runId, error instanceof Error ? error : new TypeError(`${guard.name} threw no error`));
            return halt(GUARD_INVALID, `the run guard ${guard.name} failed`);
          }
        },
      }),
    ),
    takeError: (runId) => {
      const error = errors.get(runId);
      errors.delete(runId);
      return error;
    },
  };
}

function ask(guard: RunGuard, { tool, args }: RuleCall, context: RuleContext): null | BlockCall | GuardVerdict {
  const answer: unknown = guard.checkToolCall(
    { name: tool, arguments: args },
    { query: context.input, step: context.step, records: context.calls.map((call) => callRecord(call)) },
  );
  if (answer === null || isBlockCall(answer) || isGuardVerdict(answer)) {
    return answer;
  }
  throw new TypeError(
    `the run guard ${guard.name} must return null, a BlockCall or a GuardVerdict with one of ` +
      `${TERMINATION_REASONS.join(", ")}, and returned ${nameOf(answer)}`,
  );
}

function verdictOf(answer: null | BlockCall | GuardVerdict, call: RuleCall, context: RuleContext): Verdict | undefined {
  if (answer === null) {
    return undefined;
  }
  if (answer.kind === "guard_verdict") {
    context.read("guard", answer.guard);
    return halt(answer.reason, answer.detail);
  }
  context.read("guard", answer.guard);
  return deny(BLOCKED_BY_GUARD, withoutArguments(answer.message, call.args));
}

/** A refused value must not come back to the model as the harness's own words. */
function withoutArguments(message: string, args: JsonValue): string {
  return valuesIn(args).reduce((text, value) => text.replaceAll(value, "[argument]"), message);
}

const VALUE_CHARACTERS_MIN = 4;

function valuesIn(value: JsonValue): readonly string[] {
  if (typeof value === "object" && value !== null) {
    return Object.values(value).flatMap((item: JsonValue) => valuesIn(item));
  }
  const text = String(value);
  return text.length >= VALUE_CHARACTERS_MIN && typeof value !== "boolean" && value !== null ? [text] : [];
}

function isBlockCall(value: unknown): value is BlockCall {
  return hasTexts(value, "block_call", ["guard", "message"]);
}

function isGuardVerdict(value: unknown): value is GuardVerdict {
  return (
    hasTexts(value, "guard_verdict", ["guard", "reason", "detail"]) &&
    TERMINATION_REASONS.some((reason) => reason === value["reason"])
  );
}

function hasTexts(value: unknown, kind: string, names: readonly string[]): value is Readonly<Record<string, unknown>> {
  if (typeof value !== "object" || value === null) {
    return false;
  }
  const fields = value as Readonly<Record<string, unknown>>;
  return fields["kind"] === kind && names.every((name) => typeof fields[name] === "string");
}

function nameOf(value: unknown): string {
  return typeof value === "object" && value !== null ? `a ${value.constructor?.name ?? "bare"} object` : typeof value;
}
