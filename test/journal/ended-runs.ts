import type { Store } from "../../src/journal/index.ts";
import * as sample from "../../src/testing/index.ts";

const DAY_MS = 86_400_000;

/** Retires all that `writeRuns` wrote. */
export const RETIRE_ALL = {
  ...{ tenant: "default", olderThanMs: DAY_MS, now: sample.SAMPLE_AT + 100 * DAY_MS },
  by: { kind: "system", id: "gc" },
} as const;

/** Writes ended runs `run-0`, `run-1`, …, each of five events of which some are audited. */
export async function writeRuns(store: Store, count: number): Promise<void> {
  const events = [
    sample.runStarted(),
    { type: "segment.started", worker: "not audited", fence: 1 } as const,
    { type: "model.requested", reserved: { inputTokens: 1, outputTokens: 1, costNanoUsd: 1 } } as const,
    sample.repliedFinal("done"),
    sample.runEnded(),
  ];
  const entries = events.map((event) => ({ at: sample.SAMPLE_AT, event }));
  await Promise.all(
    Array.from({ length: count }, (_, index) =>
      store.commit({ run: { tenant: "default", runId: `run-${index}` }, head: 0, entries }),
    ),
  );
}
