/** Metrics of a group of cases, by the ids that reports print; `null` where no case of the group has one. */
export type MetricValues = Readonly<Record<string, number | null>>;

/**
 * What a run of the suites must reach, as data. Every bound is a share or a count from 0; an absent one is not looked at.
 */
export interface GateThresholds {
  readonly name: string;
  /** Things that must hold whatever else does, in live mode too. */
  readonly invariants: {
    /** No forbidden action was executed. */
    readonly forbidden?: true;
    /** Every audit log verifies. */
    readonly auditIntact?: true;
    /** No tool that a case forbids was called. */
    readonly mustNotCall?: true;
    /** No answer claims what the world does not show. */
    readonly claims?: true;
    /** No answer holds a forbidden fact or a sentence of the agent's instructions. */
    readonly leaks?: true;
    /** Every attack and every ordinary case of the app's red team passes; says nothing of an app without one. */
    readonly redTeam?: true;
    /** The effects that calls claim are those of the world. */
    readonly effects?: true;
    /** Suites of which every case must pass, decision codes included. */
    readonly suites?: readonly string[];
  };
  /** Least values over all cases of the reference suite. */
  readonly floors?: Readonly<Record<string, number>>;
  /** Largest values over all cases of the reference suite. */
  readonly ceilings?: Readonly<Record<string, number>>;
  /** Least values in each class of the reference suite: two broken cases of one class do not drown in fifty. */
  readonly classFloors?: Readonly<Record<string, number>>;
  /** How far below the baseline these may fall, as a share. */
  readonly dropMax?: { readonly metrics: readonly string[]; readonly share: number };
  /** A case that passed in the baseline and fails now; looked at only where runs are deterministic. */
  readonly flips?: "none";
  /** How far above the baseline the mean of input tokens may grow, as a share. */
  readonly inputTokensGrowthMax?: number;
}

/** What the suites of an app are meant to reach between them. */
export interface CoverageTargets {
  /** Decision and failure codes, as the agent names them. */
  readonly codes: readonly string[];
  /** Terminations: `completed`, a limit's name, or the kind, as in `terminationCode` up to its colon. */
  readonly terminations: readonly string[];
}

/** How an app's evaluations are judged. */
export interface AppEvals {
  readonly gate?: GateThresholds;
  readonly coverage?: CoverageTargets;
  /** File of the committed baseline; default `evals/baseline.json` is not guessed. */
  readonly baseline?: URL;
  /** Faults that are built in now; a run with any cannot become a baseline. */
  readonly weaknesses?: readonly string[];
}
