import type { LangGraphRunnableConfig } from "@langchain/langgraph";
import type { Principal } from "../../core/index.ts";
import type { Harness, RunResult } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import type { RunKey } from "../../journal/index.ts";
import { runIdOf } from "./run-id.ts";
import { type SettleOptions, settleRun } from "./settle.ts";

export interface BelayRunNodeOptions<State, Update> extends SettleOptions {
  readonly harness: Harness;
  /** The message that the run starts with. */
  readonly input: (state: State, config: LangGraphRunnableConfig) => string;
  /** What the graph's state learns of the run, however it ended. */
  readonly output: (result: RunResult, state: State) => Update;
  readonly principalOf?: (config: LangGraphRunnableConfig) => Principal;
  readonly tenantOf?: (config: LangGraphRunnableConfig) => string;
  /** Continues a conversation of the harness. Default: one of its own for each visit. */
  readonly conversationOf?: (config: LangGraphRunnableConfig) => string;
}

export type BelayRunNode<State, Update> = (state: State, config: LangGraphRunnableConfig) => Promise<Update>;

/**
 * A whole Belay run as one node of a graph. The graph is interrupted while a person is asked, and goes on with the same
 * run when it is resumed, in whichever process.
 *
 * A state that is changed by hand while the run waits is another visit and starts another run; the first one keeps its
 * question until that expires or somebody cancels it (`harness.cancel`).
 */
export function belayRunNode<State, Update>(options: BelayRunNodeOptions<State, Update>): BelayRunNode<State, Update> {
  const { harness, input, output, principalOf, tenantOf, conversationOf } = options;
  return async (state, config) => {
    const run: RunKey = { tenant: tenantOf?.(config) ?? "default", runId: runIdOf(config, ...visitOf(config)) };
    await harness.start(input(state, config), {
      ...run,
      ...(principalOf === undefined ? {} : { principal: principalOf(config) }),
      ...(conversationOf === undefined ? {} : { conversationId: conversationOf(config) }),
    });
    return output(await settleRun(harness, run, config, options), state);
  };
}

/** LangGraph names each task after its checkpoint and node, so the name stays while the task is run again. */
function visitOf(config: LangGraphRunnableConfig): readonly string[] {
  const task: unknown = config.configurable?.["checkpoint_ns"];
  if (typeof task === "string" && task !== "") return ["run", task];
  throw new BelayError("BELAY_INPUT_INVALID", "A run node works only inside a graph. Add it with addNode().");
}
