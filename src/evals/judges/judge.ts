/** One answer to grade, and what it is graded by. */
export interface GradedAnswer {
  readonly question: string;
  readonly answer: string;
  /** Texts that a right answer holds. */
  readonly facts: readonly string[];
  readonly forbiddenFacts?: readonly string[];
  /** Another answer to the same question that the judge is shown beside it, and which of the two comes first. */
  readonly beside?: { readonly answer: string; readonly position: "before" | "after" };
  /** Who the judge is told wrote the answer. */
  readonly author?: string;
}

/** `unreadable`: the judge did not answer in the agreed format, which is neither yes nor no. */
export interface Grade {
  readonly verdict: "pass" | "fail" | "unreadable";
  readonly reason: string;
}

/** Grades answers by one version of a rubric. */
export interface Judge {
  /** Name and rubric, such as `FakeJudge/v2`; results of different judges are not comparable. */
  readonly id: string;
  grade(answer: GradedAnswer, options: { readonly signal: AbortSignal }): Promise<Grade>;
}
