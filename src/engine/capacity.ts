/** How much one harness takes on. Every default is here; when somebody should look at a run is `STUCK` of the journal. */
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
} as const;
