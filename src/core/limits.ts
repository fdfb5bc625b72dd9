/** Bounds of one run, as data. An absent bound is not checked, except that `stepsMax` is always there. */
export interface Limits {
  /** Model calls of the run. */
  readonly stepsMax: number;
  /** Input plus output tokens of the run; checked with a reservation before each model call. */
  readonly tokensMax?: number;
  /** Most tokens that one reply may have; part of each reservation. */
  readonly replyTokensMax: number;
  /** US dollars times 10^9, an integer, so that sums are exact. Checked with a reservation before each model call. */
  readonly costNanoUsdMax?: number;
  /** Working time; waiting for people and downtime do not count. */
  readonly wallClockMs?: number;
  /** `consecutive`: the `max`-th identical call in a row stops the run. `run`: the (`max`+1)-th of the run does. */
  readonly identicalCalls?: { readonly max: number; readonly scope: "consecutive" | "run" };
  /** A sequence of up to `lengthMax` calls repeated `repeats` times stops the run (A,B,A,B,…). */
  readonly cycles?: { readonly lengthMax: number; readonly repeats: number };
  /** More schema-invalid calls than this stop the run. */
  readonly invalidCallsMax?: number;
  /** This many unreadable replies in a row stop the run. */
  readonly unreadableRepliesMax: number;
  /** This many rejections by people end the run: somebody keeps asking for what people do not want. */
  readonly rejectionsMax?: number;
  /** Calls of one turn beyond this are refused, not run. */
  readonly callsPerTurnMax: number;
}

export const DEFAULT_LIMITS: Limits = {
  stepsMax: 8,
  replyTokensMax: 1024,
  identicalCalls: { max: 3, scope: "consecutive" },
  cycles: { lengthMax: 4, repeats: 3 },
  invalidCallsMax: 5,
  unreadableRepliesMax: 2,
  rejectionsMax: 3,
  callsPerTurnMax: 16,
};
