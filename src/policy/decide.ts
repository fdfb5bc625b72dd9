import { checkJsonValue, type Decision, deepFreeze, type JsonValue } from "../core/index.ts";
import { outcomeOf, quietly } from "../tool/index.ts";
import { createReadRecord, type ReadRecord } from "./read-record.ts";
import type { Rule, RuleCall, RuleContext } from "./rule.ts";
import { policyError, REASON_CHARACTERS_MAX, readVerdict } from "./verdict.ts";

export type DecideContext = Omit<RuleContext, "read">;

export interface DecideOptions {
  /** Gets what a failing rule threw, which the decision never holds. */
  readonly onError?: (ruleId: string, error: unknown) => void;
}

/** Ids of decisions that no rule made. */
const READ_ONLY_RULE = "belay.read_only";
const NO_RULE = "belay.no_rule";

/**
 * Asks the rules, in order, about one call.
 *
 * The first `deny` or `halt` wins and ends the asking; else the first `ask`; else the first `allow`. Without any, a
 * read is allowed (`OK`) and everything else denied (`NO_RULE`). A rule that throws, rejects or gives anything that is
 * not a verdict denies with `POLICY_ERROR`. As long as rules answer at once, so does this. Never throws.
 */
export function decideCall(
  rules: readonly Rule[],
  call: RuleCall,
  context: DecideContext,
  options: DecideOptions = {},
): Decision | Promise<Decision> {
  const asking = prepare(rules, call, context, options);
  return "ruleId" in asking ? asking : askFrom(asking, 0, askRest);
}

/** Like `decideCall` for use inside a transaction, where a rule that answers with a promise is a `POLICY_ERROR`. */
export function decideCallSync(
  rules: readonly Rule[],
  call: RuleCall,
  context: DecideContext,
  options: DecideOptions = {},
): Decision {
  const asking = prepare(rules, call, context, options);
  return "ruleId" in asking
    ? asking
    : askFrom(asking, 0, (_asking, _answer, next) => policyError(asking.rules[next - 1]?.id ?? NO_RULE, "promise"));
}

interface Asking {
  /** Those that speak about this tool. */
  readonly rules: readonly Rule[];
  readonly call: RuleCall;
  readonly context: DecideContext;
  readonly onError: (ruleId: string, error: unknown) => void;
  readonly reads: ReadRecord;
  readonly asks: Decision[];
  firstAllow: Decision | undefined;
}

function prepare(
  rules: readonly Rule[],
  call: RuleCall,
  context: DecideContext,
  options: DecideOptions,
): Asking | Decision {
  const copied = checkJsonValue(call.args);
  if (!copied.ok) {
    // What cannot be judged safely is not run.
    return { verdict: "deny", code: "POLICY_ERROR", reason: "the arguments are not plain JSON", ruleId: NO_RULE };
  }
  return {
    rules: rules.filter((rule) => rule.tools === undefined || rule.tools.includes(call.tool)),
    call: Object.freeze({ ...call, args: deepFreeze(copied.value) }),
    context: {
      ...context,
      calls: Object.freeze(context.calls.slice()),
      memory: Object.freeze(context.memory.slice()),
    },
    onError: quietly(options.onError),
    reads: createReadRecord(),
    asks: [],
    firstAllow: undefined,
  };
}

async function askRest(asking: Asking, answer: Promise<Decision | undefined>, next: number): Promise<Decision> {
  return take(asking, await answer) ?? askFrom(asking, next, askRest);
}

/** Asks the rules from one on, as long as they answer at once; `onPromise` decides about one that does not. */
function askFrom<Later>(
  asking: Asking,
  start: number,
  onPromise: (asking: Asking, answer: Promise<Decision | undefined>, next: number) => Later,
): Decision | Later {
  for (const [offset, rule] of asking.rules.slice(start).entries()) {
    const answer = consult(asking, rule);
    if (answer instanceof Promise) {
      return onPromise(asking, answer, start + offset + 1);
    }
    const final = take(asking, answer);
    if (final !== undefined) {
      return final;
    }
  }
  return conclude(asking);
}

/** What one rule says; `undefined` for no opinion. The promise never rejects. */
function consult(asking: Asking, rule: Rule): Decision | undefined | Promise<Decision | undefined> {
  const failed = (error: unknown): Decision => {
    asking.onError(rule.id, error);
    return policyError(rule.id, "threw");
  };
  return outcomeOf(
    () => rule.decide(asking.call, contextFor(asking)),
    (value) => decisionOf(rule, value),
    failed,
  );
}

function contextFor(asking: Asking): RuleContext {
  return Object.freeze({
    ...asking.context,
    read: <Value extends JsonValue>(name: string, value: Value): Value => {
      asking.reads.add(name, value);
      return value;
    },
  });
}

function decisionOf(rule: Rule, value: unknown): Decision | undefined {
  if (value === undefined) {
    return undefined;
  }
  const verdict = readVerdict(value);
  return verdict === undefined ? policyError(rule.id, "junk") : { ...verdict, ruleId: rule.id };
}

/** What all rules read until the decision fell: whoever audits it wants the facts behind the allows too. */
function withReads(decision: Decision, { reads }: Asking): Decision {
  const read = reads.take();
  return read === undefined ? decision : { ...decision, reads: read };
}

/** Takes one answer into account and gives the decision when it is final. */
function take(asking: Asking, answer: Decision | undefined): Decision | undefined {
  switch (answer?.verdict) {
    case "deny":
    case "halt":
      return withReads(answer, asking);
    case "ask":
      asking.asks.push(answer);
      return undefined;
    case "allow":
      asking.firstAllow ??= answer;
      return undefined;
    case undefined:
      return undefined;
  }
}

/** Every question that the rules have, as one: a person sees them all, and a yes covers these and no others. */
function joinAsks([first, ...others]: readonly Decision[]): Decision | undefined {
  if (first === undefined || others.length === 0) return first;
  const also = others.map(({ code }) => code);
  const reason = [first.reason, ...others.map((other) => `also ${other.code}: ${other.reason}`)].join("; ");
  return { ...first, also, reason: reason.slice(0, REASON_CHARACTERS_MAX) };
}

function conclude(asking: Asking): Decision {
  const { call, asks, firstAllow } = asking;
  const spoken = joinAsks(asks) ?? firstAllow;
  if (spoken !== undefined) {
    return withReads(spoken, asking);
  }
  const silent: Decision =
    call.level === "read"
      ? { verdict: "allow", code: "OK", reason: "read-only", ruleId: READ_ONLY_RULE }
      : { verdict: "deny", code: "NO_RULE", reason: `no rule allows ${call.tool}`, ruleId: NO_RULE };
  return withReads(silent, asking);
}
