import type { AnyApp, World } from "../../config.ts";
import type { CallState, Decision, JsonValue, RunState } from "../../core/index.ts";
import type { Agent } from "../../engine/index.ts";
import type { RunKey } from "../../journal/index.ts";
import { decideCall, type Rule } from "../../policy/index.ts";
import { createToolExecutor, isThenable } from "../../tool/index.ts";

/** When and on what a call is judged again. */
interface Moment {
  /** Milliseconds since the epoch. */
  readonly at: number;
  readonly recheck: boolean;
  /** What the deciding rule read then, by name. */
  readonly reads: JsonValue | undefined;
}

/** Today's rules and tools of an app, over a world of their own. */
export interface ReplayPolicy {
  decide(state: RunState, call: CallState, moment: Moment): Promise<Decision>;
  /** Makes the effect of a call in the world; a sentence when that cannot be done safely. */
  makeEffect(state: RunState, call: CallState, at: number): string | undefined;
}

export function createReplayPolicy(app: AnyApp, world: World, { runId }: RunKey): ReplayPolicy {
  let now = 0;
  // The world came from this very app, whose type of world is lost in a list of apps.
  const agent: Agent = app.agent(world as never, () => now);
  const inner = createToolExecutor(agent.tools);
  const executor = agent.executor?.(inner) ?? inner;
  const contracts = new Map(executor.listTools().map((contract) => [contract.name, contract]));
  return {
    decide: async (state, { call }, { at, recheck, reads }) => {
      now = at;
      const { callId, tool, args } = call;
      const contract = contracts.get(tool);
      if (contract === undefined || state.offeredTools?.includes(tool) === false) {
        const code = contract === undefined ? "unknown_tool" : "tool_not_offered";
        return { verdict: "deny", code, reason: `${tool} cannot be called`, ruleId: "belay.prepare" };
      }
      const checked = await executor.check(tool, args);
      if (!checked.ok) {
        return { verdict: "deny", code: checked.error.code, reason: checked.error.message, ruleId: "belay.prepare" };
      }
      const { tenant, principal, step, input, memory, turn, earlierCalls } = state;
      const calls = [...earlierCalls, ...turn.filter((other) => other.call.callId !== callId)];
      const rules = agent.rules.map((rule) => withRecordedReads(rule, reads));
      const context = { tenant, principal: { ...principal }, runId, step, input, memory, calls, now: at, recheck };
      return await decideCall(rules, { callId, tool, args, level: contract.level }, context);
    },
    makeEffect: (state, { call, idempotencyKey, attempt }, at) => {
      now = at;
      const { callId, tool, args } = call;
      const contract = contracts.get(tool);
      if (call.effect === "read") {
        return undefined;
      }
      if (contract?.inTransaction !== true || agent.transaction === undefined) {
        return `${tool} (${callId}) was not run again: it may reach outside the app's world`;
      }
      const { tenant, principal } = state;
      const work = () =>
        executor.execute(tool, structuredClone(args), {
          ...{ runId, tenant, principal, callId, now: at, attempt: Math.max(1, attempt) },
          idempotencyKey: idempotencyKey ?? `${tenant}/${runId}/${callId}`,
          signal: NEVER_ABORTED,
        });
      const result = agent.transaction(work);
      return isThenable(result) || !result.ok ? `${tool} (${callId}) did not succeed in the replay's world` : undefined;
    },
  };
}

const NEVER_ABORTED: AbortSignal = new AbortController().signal;

/** A rule that uses what `read` gives back judges on what was recorded. */
function withRecordedReads(rule: Rule, reads: JsonValue | undefined): Rule {
  if (typeof reads !== "object" || reads === null || Array.isArray(reads)) {
    return rule;
  }
  const recorded = reads as Readonly<Record<string, JsonValue>>;
  return {
    ...rule,
    decide: (call, context) =>
      rule.decide(call, {
        ...context,
        read: <Value extends JsonValue>(name: string, value: Value): Value => {
          context.read(name, value);
          // The rule wrote the value itself, under this name and in this shape.
          return Object.hasOwn(recorded, name) ? (recorded[name] as Value) : value;
        },
      }),
  };
}
