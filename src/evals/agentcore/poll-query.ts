/** How a query of CloudWatch Logs Insights can stand. */
export type QueryStatus = "Scheduled" | "Running" | "Complete" | "Failed" | "Cancelled" | "Timeout" | "Unknown";

/** Statuses after which nothing more will come; `deadline`: it was given up. */
export type QueryEnd = Exclude<QueryStatus, "Scheduled" | "Running"> | "deadline";

export interface PollOptions {
  readonly now: () => number;
  readonly sleep: (ms: number) => Promise<void>;
  /** Milliseconds. Default 60,000. */
  readonly deadlineMs?: number;
  /** Milliseconds between two looks. Default 1,000. */
  readonly intervalMs?: number;
}

const WAITING: ReadonlySet<string> = new Set(["Scheduled", "Running"]);
const ENDED: ReadonlySet<string> = new Set(["Complete", "Failed", "Cancelled", "Timeout", "Unknown"]);

/**
 * Looks at a query until it has ended in any way or the deadline is over. A status that nobody knows ends it as
 * `Unknown`: waiting for what may never come is no plan. Rejects when `status` does.
 */
export async function pollQuery(status: () => Promise<string>, options: PollOptions): Promise<QueryEnd> {
  const { now, sleep, deadlineMs = 60_000, intervalMs = 1000 } = options;
  const end = now() + deadlineMs;
  for (;;) {
    const seen = await status();
    if (!WAITING.has(seen)) {
      return ENDED.has(seen) ? (seen as QueryEnd) : "Unknown";
    }
    const left = end - now();
    if (left <= 0) {
      return "deadline";
    }
    await sleep(Math.min(intervalMs, left));
  }
}
