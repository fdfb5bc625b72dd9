import type { RunEvent } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { type ActiveRun, type Advanced, type AdvanceOptions, advanceRun, beginRun } from "./advance.ts";
import type { EngineContext } from "./context.ts";
import type { RunResult } from "./harness.ts";
import { resultOf } from "./result.ts";

/** The runs that this process is driving, one driver each: two would hold the same lease and race for nothing. */
export interface ActiveRuns {
  advance(run: RunKey, options?: AdvanceOptions): Promise<RunResult>;
  /**
   * Begins a new run and drives it at once. `undefined`, with nothing written, when it would have to wait for its turn
   * or its name is taken: it is started like any other then.
   */
  begin(run: RunKey, first: readonly RunEvent[], options: AdvanceOptions): Promise<RunResult | undefined>;
  /** Aborts what is in flight of a run that was cancelled; `false` when this process does not drive it. */
  interrupt(run: RunKey): boolean;
}

export function createActiveRuns(context: EngineContext): ActiveRuns {
  const waiting: (() => void)[] = [];
  let free = context.runsMax;
  /** As many at once as the harness drives; who comes first is first. */
  const inTurn = async <Value>({ isUrgent }: AdvanceOptions, work: () => Promise<Value>): Promise<Value> => {
    if (isUrgent === true) return work();
    if (free > 0) free -= 1;
    else await new Promise<void>((resolve) => waiting.push(resolve));
    try {
      return await work();
    } finally {
      const next = waiting.shift();
      if (next === undefined) free += 1;
      else next();
    }
  };
  const active = new Map<string, { readonly done: Promise<unknown>; interrupt(): void }>();
  type Register = (active: ActiveRun) => void;
  const driven = async <Value extends Advanced | undefined>(
    key: string,
    options: AdvanceOptions,
    work: (register: Register) => Promise<Value>,
  ): Promise<Value> => {
    let current: ActiveRun | undefined;
    const register: Register = (registered) => {
      current = registered;
    };
    const done = inTurn(options, () => work(register));
    active.set(key, { done: done.catch(() => undefined), interrupt: () => current?.cancel() });
    try {
      return await done;
    } finally {
      active.delete(key);
    }
  };
  return {
    async advance({ tenant, runId }, options = {}) {
      const run: RunKey = { tenant, runId };
      const key = `${tenant}/${runId}`;
      for (let other = active.get(key); other !== undefined; other = active.get(key)) await other.done;
      const advanced = await driven(key, options, (register) => advanceRun(context, run, options, register));
      return await resultOf(context, run, advanced);
    },
    async begin(run, first, options) {
      const key = `${run.tenant}/${run.runId}`;
      if (free === 0 || active.has(key) || options.signal?.aborted === true) return undefined;
      const advanced = await driven(key, options, (register) => beginRun(context, run, first, options, register));
      return advanced && (await resultOf(context, run, advanced));
    },
    interrupt({ tenant, runId }) {
      const running = active.get(`${tenant}/${runId}`);
      running?.interrupt();
      return running !== undefined;
    },
  };
}
