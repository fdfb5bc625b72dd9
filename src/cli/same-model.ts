import { effectsOf, fold } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey } from "../journal/index.ts";
import { type CommandInput, textOption } from "./command.ts";
import { OFFLINE } from "./model-option.ts";
import type { OpenApp } from "./project.ts";

/**
 * Refuses to go on with a run under another model than it has asked so far, unless `--model` says so.
 *
 * A run that only waits for a person asks nothing, so nothing is wrong with looking at it. The engine refuses the
 * same; this is asked before a person's answer is recorded, and knows what to type. Throws `BELAY_RUN_OTHER_MODEL`.
 */
export async function checkSameModel(
  input: CommandInput,
  { modelId, harness }: Pick<OpenApp, "modelId" | "harness">,
  run: RunKey,
  isAnswered: boolean,
): Promise<void> {
  if (textOption(input, "model") !== undefined) return;
  const state = fold(await harness.store.read(run));
  if (state?.model === undefined || state.model === modelId || state.ending !== undefined) return;
  const { model: recorded } = state;
  const isWaiting = effectsOf(state).every(
    (effect) => effect.type === "await_approval" && Date.now() < effect.expiresAt,
  );
  if (isWaiting && !isAnswered) return;
  throw new BelayError(
    "BELAY_RUN_OTHER_MODEL",
    `The run ${run.runId} asks the model ${recorded}, and this command would go on with ${modelId}. Nothing was done. ` +
      `Pass --model ${specOf(recorded)}, or --model ${OFFLINE} to go on with the app's own model.`,
  );
}

/** A model of Bedrock is recorded under its bare name. */
function specOf(modelId: string): string {
  return /^(?:https?:|[a-z]+:\D)/.test(modelId) ? modelId : `bedrock:${modelId}`;
}
