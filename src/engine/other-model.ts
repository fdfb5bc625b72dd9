import type { RunState } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";

// A wake that comes again and again is told of once; who forgets after that many tells again.
const TOLD_MAX = 10_000;

const toldOf = new WeakMap<EngineContext, Set<string>>();

/** Leaves a run alone that asks another model than this harness has, and says so once. Throws BELAY_RUN_OTHER_MODEL. */
export function refuseOtherModel(context: EngineContext, run: RunKey, state: RunState): never {
  const { kit, model } = context;
  const problem = `run ${run.runId} asks the model ${state.model}, and here is ${model.id}; it was left as it is`;
  const told = toldOf.get(context) ?? new Set();
  const name = JSON.stringify([run.tenant, run.runId, state.model]);
  if (!told.has(name)) {
    if (told.size >= TOLD_MAX) told.clear();
    toldOf.set(context, told.add(name));
    context.alarm({ code: "RUN_OTHER_MODEL", run, detail: problem });
  }
  throw new kit.BelayError(
    "BELAY_RUN_OTHER_MODEL",
    `${problem}. Go on with that model, or allow another one on purpose (allowOtherModel: true).`,
  );
}

/** Whether a run was left alone for its model, which was told of then. */
export function isOtherModel({ kit }: EngineContext, error: unknown): boolean {
  return error instanceof kit.BelayError && error.code === "BELAY_RUN_OTHER_MODEL";
}
