import { BelayError } from "../errors.ts";
import { createMemoryStore, type Store } from "../journal/index.ts";
import { createToolExecutor } from "../tool/index.ts";
import type { Agent } from "./agent.ts";
import { buildControls, type ControlInfo, listControls, withoutControls } from "./controls.ts";
import { assembleHarness } from "./create-harness.ts";
import type { Harness, HarnessOptions } from "./harness.ts";

/**
 * A harness with some controls taken out, to show in an evaluation that each is needed.
 *
 * It makes its own in-memory store and refuses to be handed one: what it does can never touch a store of production.
 * Nothing but `evals/` may import this file. Throws BELAY_ABLATION for a given store and for unknown control ids.
 */
export function createAblatedHarness(
  options: Omit<HarnessOptions, "store">,
  without: readonly string[],
): Harness & { readonly store: Store } {
  if ("store" in options || "waker" in options) {
    throw new BelayError("BELAY_ABLATION", "an ablated harness makes its own store in memory; do not hand it one");
  }
  const known = new Set(controlsOf(options.agent).map(({ id }) => id));
  for (const id of without) {
    if (!known.has(id)) {
      throw new BelayError("BELAY_ABLATION", `there is no control '${id}'; the agent has ${[...known].join(", ")}`);
    }
  }
  return assembleHarness({ ...options, store: createMemoryStore() }, (controls) => withoutControls(controls, without));
}

/** The controls of an agent, in a stable order. */
export function controlsOf(agent: Agent): readonly ControlInfo[] {
  const inner = createToolExecutor(agent.tools);
  return listControls(buildControls(agent, (agent.executor?.(inner) ?? inner).listTools()));
}
