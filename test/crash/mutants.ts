import type { Patch } from "./build.ts";

/** A way in which this software could be wrong, and the story that tells. */
export interface Mutant {
  readonly name: string;
  readonly patches: readonly Patch[];
  /** Name of the case that catches it. */
  readonly caughtBy: string;
  /** What that case says. */
  readonly saying: RegExp;
}

const one = (file: string, from: string, to: string): readonly Patch[] => [{ file, from, to }];

export const MUTANTS: readonly Mutant[] = [
  {
    name: "no intent before the effect",
    patches: one(
      "engine/drive.ts",
      "await self.session.flush();\n  for (const launchNow of self.launches.splice(0)) launchNow();",
      "for (const launchNow of self.launches.splice(0)) launchNow();\n  await self.session.flush();",
    ),
    caughtBy: "dies before the intent is durable",
    saying: /happened 2 times|without an intent/,
  },
  {
    name: "another key for each attempt",
    patches: one("engine/execute-step.ts", "(call.idempotencyKey ?? key)", "[key, attempt].join()"),
    caughtBy: "dies in the middle of a keyed call",
    saying: /book small happened 2 times/,
  },
  {
    name: "the outcome before the effect",
    patches: one(
      "engine/execute-step.ts",
      "  if (isTooLate(context, call, startedAt)) {",
      `  if (call.attempt > 0 && !contract.inTransaction) {
    const input = toolContext(context, session, call, signal);
    setTimeout(() => void context.executor.execute(tool, copyOf(call.call.args), input), 100);
    return { kind: "settled", settlement: settle({ ok: true, value: null }) };
  }
  if (isTooLate(context, call, startedAt)) {`,
    ),
    caughtBy: "dies before the effect of a queryable call",
    saying: /has not done/,
  },
  {
    name: "synchronous=NORMAL instead of FULL",
    patches: one("adapters/sqlite/open-database.ts", "PRAGMA synchronous = FULL", "PRAGMA synchronous = NORMAL"),
    // A process that is killed loses nothing with it; a power cut does. This case reads the setting itself.
    caughtBy: "nobody dies",
    saying: /PRAGMA synchronous is 1/,
  },
  {
    name: "a queryable call is asked about at once",
    patches: one(
      "engine/recover-step.ts",
      "if (context.clock.now() < notBefore) return { events: [], notBefore };",
      "",
    ),
    caughtBy: "a slow world: the request takes effect after its process died",
    saying: /ship small happened 2 times/,
  },
  {
    name: "the time of a queryable call is read from today's program",
    patches: one("engine/recover-step.ts", "(call.overAfterMs ?? startWithinMs", "(startWithinMs"),
    caughtBy: "a slow world: the next revision gives the tool less time",
    saying: /ship small happened 2 times/,
  },
  {
    name: "a queryable call is repeated and not asked about",
    patches: one(
      "engine/recover-step.ts",
      'case "keyed":\n      return again;\n    case "queryable": {',
      'case "keyed":\n    case "queryable":\n      return again;\n    case "opaque2" as never: {',
    ),
    caughtBy: "dies in the middle of a queryable call",
    saying: /ship small happened 2 times/,
  },
  {
    name: "an opaque call is repeated",
    patches: one(
      "engine/recover-step.ts",
      'return unknown("the process died while the call was running");',
      "return again;",
    ),
    caughtBy: "dies in the middle of an opaque call",
    saying: /wire fee happened 2 times/,
  },
  {
    name: "no compare-and-set",
    patches: one(
      "adapters/sqlite/write-commit.ts",
      "  if (head !== commit.head) {",
      "  if (head > commit.head) return writeCommit(handle, view, session, { ...commit, head }, clockToleranceMs);\n  if (head !== commit.head) {",
    ),
    caughtBy: "frozen with the outcome of a keyed call to record",
    saying: /did not apply|settled twice/,
  },
  {
    name: "an intent is acted on however old it is",
    patches: one("engine/execute-step.ts", "now - (startedAt ?? now) > startWithinMs(context)", "false"),
    caughtBy: "frozen between the intent and the effect of a queryable call",
    saying: /ship small happened 2 times/,
  },
  {
    name: "no second look at the approval",
    patches: one("engine/rejudge.ts", 'guards.has("approval_recheck")', 'guards.has("none" as never)'),
    caughtBy: "the world closes between a question and its answer",
    saying: /book big one should not happen/,
  },
  {
    name: "a transaction's earlier attempt is not looked up",
    patches: one("engine/transaction-step.ts", "if (earlier !== undefined) return settle(earlier);", ""),
    caughtBy: "dies after the transaction of a call",
    saying: /move small happened 2 times/,
  },
  {
    name: "a run that is started again is refused when its conversation has gone on",
    patches: one("engine/conversation.ts", "earlier.some((row) => row.runId === runId)", "last.runId === runId"),
    caughtBy: "dies between a run and the one that a message starts",
    saying: /has not ended/,
  },
  {
    name: "a worker that has not heard of a doubt gives its points back",
    patches: one(
      "core/refusal.ts",
      'return isInDoubt ? "nobody knows whether the call happened" : undefined;',
      "return;",
    ),
    caughtBy: "frozen between the intent and the effect of an opaque call",
    saying: /points, and 0 reserved/,
  },
];
