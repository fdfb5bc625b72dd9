import assert from "node:assert/strict";
import type { RunEvent } from "../../core/index.ts";
import type { CommitResult, RunKey, Store } from "../../journal/index.ts";
import { runStarted, SAMPLE_AT } from "../sample-events.ts";

/** A fresh, empty store. `reopen` closes it and opens the same data again; absent when the store forgets. */
export interface OpenedStore {
  readonly store: Store;
  reopen?(): Promise<Store>;
  close(): Promise<void>;
}

export interface StoreCase {
  readonly name: string;
  run(opened: OpenedStore): Promise<void>;
}

export const RUN: RunKey = { tenant: "default", runId: "run-1" };

/** Commits events at the sample time. */
export function append(
  store: Store,
  run: RunKey,
  head: number,
  events: readonly RunEvent[],
  at: number = SAMPLE_AT,
): Promise<CommitResult> {
  return store.commit({ run, head, entries: events.map((event) => ({ at, event })) });
}

/** Creates a run with `run.started` and the events after it; returns its head. */
export async function startRun(
  store: Store,
  run: RunKey = RUN,
  events: readonly RunEvent[] = [],
  at: number = SAMPLE_AT,
): Promise<number> {
  const result = await append(store, run, 0, [runStarted(run.tenant), ...events], at);
  assert.equal(result.status, "committed", `run ${run.runId} could not be started`);
  return events.length + 1;
}

/** Commits events that must be accepted; returns the new head. */
export async function appendAll(
  store: Store,
  run: RunKey,
  head: number,
  events: readonly RunEvent[],
  at: number = SAMPLE_AT,
): Promise<number> {
  const result = await append(store, run, head, events, at);
  assert.deepEqual(result, { status: "committed", head: head + events.length });
  return head + events.length;
}
