import fc from "fast-check";

/** Tools of the fuzzed agent, one for each way in which a call can be recovered, and two that are no tools. */
export const TOOLS = ["read", "keyed", "queryable", "opaque", "world", "risky"] as const;
export type ToolName = (typeof TOOLS)[number];

/** What the rule says about a call. */
export const SAYS = [
  "allow",
  "slow_allow",
  "nothing",
  "deny",
  "slow_deny",
  "ask",
  "ask_then_deny",
  "ask_then_other",
  "halt",
  "junk",
  "throw",
  "reject",
] as const;
export type Says = (typeof SAYS)[number];

/** What the tool does when it is run; `die` is the death of its process. */
export const ACTS = [
  "ok",
  "fail",
  "throw",
  "throw_once",
  "throw_after",
  "hang",
  "hang_after",
  "junk_result",
  "huge_result",
  "die",
  "die_after",
] as const;
export type Acts = (typeof ACTS)[number];

export interface PlannedCall {
  readonly tool: ToolName | "unknown" | "malformed";
  /** Few numbers, so that calls repeat. */
  readonly id: number;
  readonly says: Says;
  readonly acts: Acts;
}

export const JUNK_REPLIES: readonly unknown[] = [
  undefined,
  null,
  { kind: "calls", text: "", calls: [null] },
  { kind: "calls", text: "", calls: [{ tool: "keyed" }, { tool: "world", args: { text: 5 } }] },
  "refund everything",
  { kind: "tool" },
  { kind: "final" },
  { kind: "calls", text: "", calls: "refund" },
  { kind: "final", text: "x", usage: "many" },
];

export type Turn =
  | { readonly kind: "calls"; readonly calls: readonly PlannedCall[]; readonly usage: "given" | "missing" | "nan" }
  | { readonly kind: "unreadable" }
  | { readonly kind: "junk"; readonly which: number }
  | { readonly kind: "throws" };

export const PERSON = [
  "approve",
  "reject",
  "both",
  "twice",
  "late",
  "agent",
  "requester",
  "other_args",
  "nobody",
] as const;
export type PersonAct = (typeof PERSON)[number];

/** How a process meets its store: it dies before or after a commit, or the commit fails and it lives on. */
export interface StoreFault {
  readonly commit: number;
  readonly how: "dies_before" | "dies_after" | "fails_before" | "fails_after";
}

export interface Plan {
  readonly turns: readonly Turn[];
  readonly people: readonly PersonAct[];
  /** Faults of one process after the other; later processes have none. */
  readonly faults: readonly (StoreFault | undefined)[];
  /** Turns of the event loop after which the processes of a round are told to stop; 0: they are not. */
  readonly stops: readonly number[];
  /** Two processes go on with the run at the same time in these rounds. */
  readonly together: readonly boolean[];
  /** Milliseconds between one look at the clock and the next, over and over; empty: the clock stands still while work is done. */
  readonly ticks: readonly number[];
  readonly pointsMax: number;
  readonly modelCallsMax: number;
  readonly endsRun: boolean;
  readonly message: boolean;
  readonly store: "memory" | "sqlite";
}

const call: fc.Arbitrary<PlannedCall> = fc.record({
  tool: fc.oneof(
    { weight: 12, arbitrary: fc.constantFrom(...TOOLS) },
    { weight: 1, arbitrary: fc.constantFrom("unknown" as const, "malformed" as const) },
  ),
  id: fc.nat(5),
  says: fc.oneof(
    { weight: 4, arbitrary: fc.constantFrom("allow" as const, "slow_allow" as const, "ask" as const) },
    { weight: 3, arbitrary: fc.constantFrom(...SAYS) },
  ),
  acts: fc.oneof(
    { weight: 5, arbitrary: fc.constant("ok" as const) },
    { weight: 3, arbitrary: fc.constantFrom(...ACTS) },
  ),
});

const turn: fc.Arbitrary<Turn> = fc.oneof(
  {
    weight: 14,
    arbitrary: fc.record({
      kind: fc.constant("calls" as const),
      calls: fc.array(call, { minLength: 1, maxLength: 5 }),
      usage: fc.constantFrom("given" as const, "given" as const, "missing" as const, "nan" as const),
    }),
  },
  { weight: 1, arbitrary: fc.constant({ kind: "unreadable" as const }) },
  { weight: 1, arbitrary: fc.record({ kind: fc.constant("junk" as const), which: fc.nat(JUNK_REPLIES.length - 1) }) },
  { weight: 1, arbitrary: fc.constant({ kind: "throws" as const }) },
);

const fault: fc.Arbitrary<StoreFault | undefined> = fc.option(
  fc.record({
    commit: fc.integer({ min: 1, max: 14 }),
    how: fc.constantFrom(
      "dies_before" as const,
      "dies_after" as const,
      "fails_before" as const,
      "fails_after" as const,
    ),
  }),
  { nil: undefined, freq: 3 },
);

export const plans: fc.Arbitrary<Plan> = fc.record({
  turns: fc.array(turn, { minLength: 1, maxLength: 4 }),
  people: fc.array(fc.constantFrom(...PERSON, "approve" as const, "approve" as const), { maxLength: 8 }),
  faults: fc.array(fault, { maxLength: 4 }),
  stops: fc.array(fc.nat(4), { maxLength: 3 }),
  together: fc.array(fc.boolean(), { maxLength: 5 }),
  ticks: fc.oneof(
    { weight: 2, arbitrary: fc.constant([]) },
    {
      weight: 1,
      arbitrary: fc.array(fc.constantFrom(0, 1, 7, 400, 1_500, 40_000, -300, -2_000), { minLength: 1, maxLength: 6 }),
    },
  ),
  pointsMax: fc.constantFrom(0, 1, 2, 3, 100),
  modelCallsMax: fc.constantFrom(1, 2, 3, 100),
  endsRun: fc.boolean(),
  message: fc.boolean(),
  store: fc.oneof(
    { weight: 7, arbitrary: fc.constant("memory" as const) },
    { weight: 1, arbitrary: fc.constant("sqlite" as const) },
  ),
});

/** Rounds after which a run that has not ended never will. */
export const ROUNDS_MAX = 80;
