/// <reference types="vitest" preserve="true" />

declare module "vitest" {
  // Vitest 5 asks for this very name with these very parameters.
  interface Matchers<R extends void | Promise<void> = void | Promise<void>, T = unknown> {
    /** The case did all that it expects, decision codes included, and its audit log verifies. */
    toPassCase(): R;
    /** Every case of the suite did; a suite without a case does not pass. */
    toPassSuite(): R;
    /** These tools executed, in this order, and no others. */
    toHaveExecuted(tools: readonly string[]): R;
    /** The run ended with this label of the agent. */
    toStopWith(stop: string): R;
    /** The assertions notice at least one spoiled trajectory; what `checkVacuity` found. */
    toBite(): R;
  }
}

export { type BelayMatchers, belayMatchers, type MatcherOutcome } from "./matchers.ts";
