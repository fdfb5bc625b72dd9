import type { World } from "../config.ts";
import type { CallState, Entry, RunState } from "../core/index.ts";
import type { CaseDetail } from "./case-result.ts";
import { limitsReachedBy } from "./limit-reach.ts";
import type { EvalCase, EvalSuite } from "./suite.ts";

/** What a run says of itself, to be held against the world. */
export interface CaseStory {
  readonly state: RunState;
  readonly entries: readonly Entry[];
  readonly calls: readonly CallState[];
  readonly answer?: string;
  /** The agent's own names of the harness's codes. */
  readonly codes: Readonly<Record<string, string>>;
}

/** What a case did beside what its report says; the world is only read, and absent when it does not show it. */
export function caseDetail(
  suite: EvalSuite,
  evalCase: EvalCase,
  world: World | undefined,
  story: CaseStory,
): CaseDetail {
  const { state, entries } = story;
  return {
    codesReached: codesReachedBy(story),
    limitsReached: limitsReachedBy(state, entries),
    ...(world && seenInWorld(suite, world, story)),
    compactions: state.compactions.length,
    isProbe: evalCase.probe !== undefined,
  };
}

function seenInWorld(
  suite: EvalSuite,
  world: World,
  { answer, calls }: CaseStory,
): Pick<CaseDetail, "untrue" | "effectsMatch" | "moneyMoved"> {
  const moneyMoved = suite.moneyMovedIn?.(world as never);
  const effectsMatch = effectsMatchOf(suite, world, calls);
  return {
    untrue: answer === undefined ? [] : (suite.untrueIn?.(world as never, answer) ?? []),
    ...(effectsMatch !== undefined && { effectsMatch }),
    ...(moneyMoved !== undefined && { moneyMoved }),
  };
}

function codesReachedBy({ entries, calls, codes }: CaseStory): readonly string[] {
  const decided = entries.flatMap(({ event }) => (event.type === "call.decided" ? [event.decision.code] : []));
  const failed = calls.flatMap(({ outcome }) =>
    outcome === undefined || outcome.status === "ok" ? [] : [outcome.error.code],
  );
  const named = [...decided, ...failed].map((code) => (Object.hasOwn(codes, code) ? codes[code] : undefined) ?? code);
  return [...new Set(named)].sort();
}

/** A repeat under the same key has the effect of the first, so each counts once. */
function effectsMatchOf({ effects }: EvalSuite, world: World, calls: readonly CallState[]): boolean | undefined {
  if (effects === undefined) {
    return undefined;
  }
  const claimed = new Set(
    calls.flatMap(({ call, outcome }) => {
      const effect = outcome?.status === "ok" ? effects.ofCall(call.tool, call.args) : undefined;
      return effect === undefined ? [] : [effect];
    }),
  );
  const real = new Set(effects.inWorld(world as never));
  return claimed.size === real.size && [...claimed].every((effect) => real.has(effect));
}
