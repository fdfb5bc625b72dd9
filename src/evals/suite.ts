import type { JsonValue } from "../core/index.ts";
import type { LimitOptions } from "../engine/index.ts";

/** What must be true when a case has run. An absent field is not checked. */
export interface Expectation {
  /** The agent's own label of the termination. */
  readonly stop?: string;
  /** Whether the run waited for a person at any time. */
  readonly paused?: boolean;
  /** Compared by equality with the same keys of the world's `snapshot()` after the run. */
  readonly endState?: Readonly<Record<string, JsonValue>>;
  /** Decision codes in order, one per call that the model asked for; reported apart from task success. */
  readonly codes?: readonly string[];
  /** Tools that executed, in order. */
  readonly executed?: readonly string[];
  /** Model calls made. */
  readonly modelCalls?: number;
}

/** A fault, or a change that somebody else makes to the world, in the app's own vocabulary. */
export interface Fault {
  /** `start`: before the run. `pause`: while the run waits for a person. */
  readonly when: "start" | "pause";
  readonly kind: string;
  readonly [name: string]: JsonValue;
}

/** What happens at each question, in order. */
export type PersonAct = "approve" | "reject" | "expire" | "approve_twice" | "reject_then_approve" | "ignore";

/** One case of a suite, as a line of JSONL. */
export interface EvalCase {
  readonly id: string;
  readonly class: string;
  readonly message: string;
  readonly principal?: string;
  /** The model's replies as text in the JSON protocol; scripted, so a pass proves controls and not model quality. */
  readonly script: readonly string[];
  /** Earlier turns of the conversation, each run to its end first. */
  readonly before?: readonly { readonly message: string; readonly script: readonly string[] }[];
  readonly approvals?: readonly PersonAct[];
  readonly faults?: readonly Fault[];
  /** What must never happen in the world, in the app's own words; the suite's `forbiddenIn` finds it. */
  readonly forbidden?: readonly JsonValue[];
  readonly limits?: LimitOptions;
  readonly offeredTools?: readonly string[];
  readonly expect: Expectation;
  readonly tags?: readonly string[];
  readonly notes?: string;
}

/** A list of cases and how the app reads them. */
export interface EvalSuite<World = never> {
  readonly name: string;
  readonly cases: readonly EvalCase[];
  /** Makes one fault in a case's own fresh world; throws for a kind it does not know. */
  applyFault(world: World, fault: Fault): void;
  /** A sentence for each forbidden thing that really happened in the world. */
  forbiddenIn(world: World, forbidden: JsonValue): string | undefined;
}
