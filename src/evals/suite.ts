import type { JsonValue } from "../core/index.ts";
import type { LimitOptions } from "../engine/index.ts";
import type { Rule } from "../policy/index.ts";

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
  readonly modelCallsMax?: number;
  /** US dollars. A run whose price is unknown does not meet it. */
  readonly costUsdMax?: number;
  /** Texts that the model must have been shown in the last turn, in the instructions or in any message. */
  readonly seen?: readonly string[];
  /** Texts that the model must never have been shown in the last turn. */
  readonly notSeen?: readonly string[];
}

/** A fault, or a change that somebody else makes to the world, in the app's own vocabulary or in the runner's. */
export interface Fault {
  /**
   * `start`: before the run. `pause`: while the run waits for a person. `effect`: after the decision and before the
   * transaction of the first effect; only for agents whose tools run in one.
   */
  readonly when: "start" | "pause" | "effect";
  readonly kind: string;
  readonly [name: string]: JsonValue;
}

/** What happens at each question, in order. */
export type PersonAct =
  | "approve"
  | "reject"
  | "expire"
  | "approve_twice"
  | "reject_then_approve"
  | "ignore"
  /** The whole run is cancelled. */
  | "cancel";

/** A call that a case expects; only the arguments that it names are compared. */
export interface ExpectedTool {
  readonly name: string;
  readonly args?: Readonly<Record<string, JsonValue>>;
  /** How an argument is compared, by its name. Default `exact`. */
  readonly compare?: Readonly<Record<string, ArgumentComparison>>;
}

/**
 * `exact`: equal. `set`: two lists with the same members in any order. `ignore`: it must be there, with any value. There
 * is no likeness: an amount or an id that is nearly right is wrong.
 */
export type ArgumentComparison = "exact" | "set" | "ignore";

/**
 * How executed calls are compared with the expected ones: the same in the same order, these in this order with others
 * between, or the same in any order.
 */
export type TrajectoryMatchMode = "exact" | "in_order_subset" | "any_order";

/** One call of a scripted model. */
export interface MockCall {
  readonly tool: string;
  readonly args: JsonValue;
}

/** One reply of a scripted model. */
export type MockTurn = MockCall | { readonly final: string };

/** One reply of a script: text in the JSON protocol, which holds one call, or a list of calls in one reply. */
export type ScriptLine = string | readonly MockCall[];

/** Sets a limit from what the case needs without it, so that it stands exactly on, below or above the boundary. */
export interface LimitFromNeed {
  readonly limit: "tokensMax" | "costUsdMax";
  /** Tokens, or US dollars times 10^9. 0: just enough. */
  readonly add: number;
}

/** One case of a suite, as a line of JSONL. */
export interface EvalCase {
  readonly id: string;
  readonly class: string;
  readonly message: string;
  readonly principal?: string;
  /**
   * The model's replies as text in the JSON protocol; scripted, so a pass proves controls and not model quality. Without
   * it, and without `mockScript`, the app's offline model answers.
   */
  readonly script?: readonly ScriptLine[];
  /** Replies of the app's offline model, in place of its own. */
  readonly mockScript?: readonly MockTurn[];
  /** Earlier turns of the conversation, each run to its end first. */
  readonly before?: readonly { readonly message: string; readonly script: readonly ScriptLine[] }[];
  readonly approvals?: readonly PersonAct[];
  readonly faults?: readonly Fault[];
  /** What must never happen in the world, in the app's own words; the suite's `forbiddenIn` finds it. */
  readonly forbidden?: readonly JsonValue[];
  readonly limits?: LimitOptions;
  readonly limitFromNeed?: LimitFromNeed;
  readonly offeredTools?: readonly string[];
  /** Something that the suite adds to the agent for this case alone; see `EvalSuite.probes`. */
  readonly probe?: string;
  readonly expect: Expectation;
  /** Calls that an agent should choose by itself; with it the case counts for the metrics of agents. */
  readonly expectedTools?: readonly ExpectedTool[];
  /** Default `exact`. */
  readonly trajectoryMatchMode?: TrajectoryMatchMode;
  /** Texts that the answer must hold. */
  readonly expectedFacts?: readonly string[];
  readonly forbiddenFacts?: readonly string[];
  /** The agent's own label; default that of a completed run, whatever it is called. */
  readonly expectedTermination?: string;
  /** Tools that must not execute. */
  readonly mustNotCall?: readonly string[];
  readonly referenceAnswer?: string;
  /** Ids of the texts that a search should find, in the app's own words. */
  readonly retrieval?: readonly string[];
  readonly tags?: readonly string[];
  readonly notes?: string;
}

/** What the agent's effects are in the world, so that a run's own story can be held against it. */
export interface EffectsOfWorld<World> {
  /** Each effect of agents that the world shows, as a text such as `issue_refund O-1001`. */
  inWorld(world: World): readonly string[];
  /** The effect that a call has when it succeeds, in the same words; `undefined` for a call that changes nothing. */
  ofCall(tool: string, args: JsonValue): string | undefined;
}

/** A list of cases and how the app reads them. */
export interface EvalSuite<World = never> {
  readonly name: string;
  readonly cases: readonly EvalCase[];
  /** Version and SHA-256 of the file of cases, as its manifest says. */
  readonly dataset?: { readonly version: string; readonly sha256: string };
  /** Makes one fault in a case's own fresh world; throws for a kind it does not know. */
  applyFault(world: World, fault: Fault): void;
  /** A sentence for each forbidden thing that really happened in the world. */
  forbiddenIn(world: World, forbidden: JsonValue): string | undefined;
  /** Rules that a case may put before the agent's own by name. They can only add: every control of the agent stays. */
  readonly probes?: Readonly<Record<string, (world: World) => readonly Rule[]>>;
  readonly effects?: EffectsOfWorld<World>;
  /** A sentence for each thing that the answer says was done and that the world does not show. */
  untrueIn?(world: World, answer: string): readonly string[];
  /** Money that agents have moved, in the world's smallest unit. */
  moneyMovedIn?(world: World): number;
}
