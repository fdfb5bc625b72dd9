import { ClaimFailed } from "./claim.ts";
import type { Stage } from "./stage.ts";

/** One step of the story. It throws when anything that it claims is not so. */
export interface Step {
  readonly title: string;
  run(stage: Stage): Promise<void>;
}

/** Runs the steps in order and names the one that fails, which ends the story. */
export async function runSteps(
  stage: Stage,
  steps: readonly Step[],
): Promise<{ readonly ok: true } | { readonly ok: false; readonly problem: string }> {
  for (const [index, step] of steps.entries()) {
    stage.printer.heading(`${index + 1}. ${step.title}`);
    try {
      await step.run(stage);
    } catch (error) {
      const reason = error instanceof ClaimFailed ? error.message : `it threw ${String(error)}`;
      return { ok: false, problem: `step ${index + 1} (${step.title}) failed: ${reason}` };
    }
  }
  return { ok: true };
}
