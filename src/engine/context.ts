import type { Clock } from "../clock.ts";
import type { RenderOptions } from "../context/index.ts";
import type { AgentStamp } from "../core/index.ts";
import type { IdPrefix } from "../ids.ts";
import type { RunKey, Store, StoredEntry } from "../journal/index.ts";
import type { ModelClient, PriceTable, ToolSpec } from "../model/index.ts";
import type { ToolContract, ToolExecutor } from "../tool/index.ts";
import type { Agent } from "./agent.ts";
import type { Controls } from "./controls.ts";
import type { Alarm, HarnessOptions } from "./harness.ts";
import type { Kit } from "./kit.ts";
import type { Waker } from "./waker.ts";

/** What the parts of the engine share: the agent made ready, and the seams. */
export interface EngineContext {
  /** For modules that are loaded on demand. */
  readonly kit: Kit;
  readonly agent: Agent;
  readonly stamp: AgentStamp;
  readonly controls: Controls;
  readonly executor: ToolExecutor;
  readonly contracts: ReadonlyMap<string, ToolContract>;
  readonly toolSpecs: readonly ToolSpec[];
  readonly model: ModelClient;
  readonly store: Store;
  readonly clock: Clock;
  readonly prices: PriceTable;
  readonly budgets: Readonly<Record<string, number>>;
  readonly worker: string;
  readonly leaseMs: number;
  readonly runsMax: number;
  readonly queueMax: number;
  readonly modelTimeoutMs: number;
  readonly allowOtherModel: boolean;
  readonly modelRetry: HarnessOptions["modelRetry"];
  readonly mayDecide?: HarnessOptions["mayDecide"];
  readonly onDelta?: HarnessOptions["onDelta"];
  /** Durable wake-ups, once somebody serves them. */
  waker(): Waker | undefined;
  readonly render: RenderOptions;
  newId(prefix: IdPrefix): string;
  alarm(alarm: Alarm): void;
  /** Tells the run handles of this process what was committed. */
  publish(run: RunKey, entries: readonly StoredEntry[]): void;
  /** Drives an ended run so that its queued message starts the next one. */
  follow(run: RunKey): Promise<void>;
}
