import assert from "node:assert/strict";
import { setTimeout as sleep } from "node:timers/promises";
import type { Wake, Waker } from "../../engine/index.ts";

/**
 * A fresh waker. `another` gives a second one on the same wakes, as another process would; one that says that it
 * survives its process must have it.
 */
export interface OpenedWaker {
  readonly waker: Waker;
  another?(): Promise<Waker>;
  close(): Promise<void>;
}

export interface WakerCase {
  readonly name: string;
  run(opened: OpenedWaker): Promise<void>;
}

// Generous: a busy machine must not fail a correct waker. No case waits this long when all is well.
const PATIENCE_MS = 20_000;
// Long enough for a wrong second delivery to show.
const SILENCE_MS = 150;

/** Longer than it takes to send a few wakes once the waker is connected. */
export const DELAY_MS = 1000;

/** The first wake may have to connect and make tables, which must not count against a delay. */
export async function warmUp(waker: Waker): Promise<void> {
  let isWarm = false;
  const served = await waker.serve(async () => {
    isWarm = true;
  });
  await waker.wake(wakeOf("warm-up", "warm-up"));
  await until(() => isWarm);
  await served.close();
}

export function wakeOf(key: string, runId = "run-1"): Wake {
  return { run: { tenant: "default", runId }, why: "start", key };
}

export async function until(condition: () => boolean): Promise<void> {
  const deadline = performance.now() + PATIENCE_MS;
  while (!condition()) {
    assert.ok(performance.now() < deadline, "the expected wake was not delivered");
    await sleep(2);
  }
}

/** Waits long enough for what must not come. */
export async function silence(): Promise<void> {
  await sleep(SILENCE_MS);
}
