import type { RunEvent } from "../core/index.ts";
import type { EngineContext } from "./context.ts";
import type { Session } from "./session.ts";

export interface DriveOptions {
  /** Of this worker's own lease. */
  readonly fence: number;
  /** Aborted: nothing new starts. What runs is waited for and recorded. */
  readonly stop: AbortSignal;
  /** Given to model calls; aborted when the worker stops or the run is cancelled. */
  readonly modelSignal: AbortSignal;
  /** Given to tools; aborted only when the run is cancelled. */
  readonly toolSignal: AbortSignal;
  readonly onDelta?: (text: string) => void;
}

/** What an effect in the background came to: events to record, with large values beside them. */
export interface Finished {
  readonly key: string;
  readonly events: readonly RunEvent[];
  readonly blobs?: ReadonlyMap<string, string>;
  /** Nothing to record now; look again at this time. */
  readonly notBefore?: number;
  /** A further attempt of a call: recorded and begun like the first. */
  readonly restart?: CallStarted | undefined;
}

type CallStarted = Extract<RunEvent, { type: "call.started" }>;

export interface Drive extends DriveOptions {
  readonly context: EngineContext;
  readonly session: Session;
  readonly inFlight: Map<string, Promise<Finished>>;
  /** Effects that may only begin once what is staged is durable. */
  readonly launches: (() => void)[];
  /** Calls that this worker started itself; any other started call was lost with its process. */
  readonly ownCalls: Set<string>;
  readonly postponed: Set<string>;
  /** Calls of an earlier revision that were checked against today's tools. */
  readonly verified: Set<string>;
  /** Times of retries that this worker has waited for. */
  readonly held: Set<number>;
}

/** Queues work that begins after the next flush, and blocks its effect until then. */
export function launch(self: Drive, key: string, work: () => Promise<Omit<Finished, "key">>): boolean {
  self.inFlight.set(key, NEVER);
  self.launches.push(() => {
    self.inFlight.set(
      key,
      work().then((done) => ({ key, ...done })),
    );
  });
  return true;
}

export const NEVER: Promise<never> = new Promise(() => undefined);
