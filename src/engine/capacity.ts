/** How much one harness takes on, and when somebody should look. Every default is here. */
export const CAPACITY = {
  /** Runs that one harness drives at once; a further one waits for its turn. */
  runsMax: 64,
  /**
   * Runs of a store that somebody has to go on with, waiting for people not counted; at this many nothing new is taken
   * up. At 64 runs of ten seconds it is a wait of about two and a half minutes.
   */
  queueMax: 1000,
  /** Whoever is refused for that is asked to come back after this. */
  overloadedRetryMs: 5000,
  /** How often a worker looks for runs that stand still. */
  stuckLookMs: 30_000,
  /** Longest time that a new run or a person's yes may lie before a worker takes it up. */
  notTakenMs: 60_000,
  /** Longest time without an entry in a run that a worker has begun; at least twice the longest call of the agent. */
  stuckMs: 300_000,
} as const;
