import type { World } from "../config.ts";
import type { Entry } from "../core/index.ts";
import type { RunResult } from "../engine/index.ts";
import { verifyStoreAudit } from "../journal/index.ts";
import { agentOutcome, unmetByAgent } from "./agent-outcome.ts";
import { type CaseBench, createCaseBench, type RunCaseOptions } from "./case-bench.ts";
import { callsOf } from "./case-calls.ts";
import { questionOutcome, unmetCaps, unmetExpectations } from "./case-check.ts";
import { createCaseClock } from "./case-clock.ts";
import type { CaseTurn } from "./case-model.ts";
import type { CaseResult } from "./case-result.ts";
import { caseDetail } from "./case-story.ts";
import { trailOf } from "./case-trail.ts";
import { leaksIn } from "./leaks.ts";
import { needOf, withLimitFromNeed } from "./limit-need.ts";
import { answerQuestions } from "./person-acts.ts";
import type { EvalCase } from "./suite.ts";

export type { RunCaseOptions, Through, ThroughBoundary } from "./case-bench.ts";

/**
 * Runs one case in a world, a store and a time of its own, and compares what happened with what the case expects.
 *
 * Usage, steps and codes are those of the last turn alone; the audit log is that of every turn. A case with
 * `limitFromNeed` runs once more before, to see what it needs. Rejects when the case cannot be set up: a fault that the
 * app does not know, a control that is not there.
 */
export async function runCase(options: RunCaseOptions): Promise<CaseResult> {
  const { limitFromNeed } = options.case;
  if (limitFromNeed === undefined) {
    return await runOnce(options);
  }
  const { app, suite, case: evalCase, without, through } = options;
  const { limitFromNeed: _measured, ...free } = evalCase;
  let entries: readonly Entry[] = [];
  await runOnce({
    app,
    suite,
    case: free,
    ...(without && { without }),
    ...(through && { through }),
    onJournal: (_run, written) => (entries = written),
  });
  return await runOnce({ ...options, case: withLimitFromNeed(evalCase, limitFromNeed, needOf(entries)) });
}

async function runOnce(options: RunCaseOptions): Promise<CaseResult> {
  const world = options.app.openWorld(":memory:");
  try {
    return await runIn(options, world);
  } finally {
    world.close();
  }
}

async function runIn(options: RunCaseOptions, world: World): Promise<CaseResult> {
  const clock = createCaseClock(Date.now());
  // The world came from this very app, whose type of world is lost in a list of apps.
  const declared = options.app.agent(world as never, clock.now);
  const through = await options.through?.(declared);
  try {
    const bench = createCaseBench(options, { world, clock, agent: through?.agent ?? declared });
    try {
      return await runOn(bench, options, through?.isWorldElsewhere === true ? undefined : world);
    } finally {
      await bench.harness.store.close();
    }
  } finally {
    await through?.[Symbol.asyncDispose]();
  }
}

async function runOn(bench: CaseBench, options: RunCaseOptions, world: World | undefined): Promise<CaseResult> {
  const { case: evalCase } = options;
  const problems: string[] = [];
  for (const turn of evalCase.before ?? []) {
    const { status } = await say(bench, turn.message, turn, problems);
    if (status !== "done") {
      problems.push(`the earlier turn ${JSON.stringify(turn.message)} is ${status}, expected done`);
    }
  }
  // Between the earlier turns and this one the world may have moved on.
  evalCase.faults?.filter((fault) => fault.when === "start").forEach(bench.applyFault);
  bench.model.load(evalCase);
  const first = await bench.start(evalCase.message, evalCase.offeredTools);
  const { result, problems: unanswered } = await answerQuestions(bench, first, evalCase);
  problems.push(...unanswered);
  addScriptProblem(bench, problems);
  bench.restoreStore();
  const entries = await bench.harness.entries(result);
  options.onJournal?.({ tenant: result.tenant, runId: result.runId }, entries);
  return judge(bench, options, world, { result, entries, problems });
}

async function say(bench: CaseBench, message: string, turn: CaseTurn, problems: string[]): Promise<RunResult> {
  bench.model.load(turn);
  const result = await bench.start(message);
  addScriptProblem(bench, problems);
  return result;
}

function addScriptProblem(bench: CaseBench, problems: string[]): void {
  const problem = bench.model.problem();
  if (problem !== undefined) {
    problems.push(problem);
  }
}

interface Ran {
  readonly result: RunResult;
  readonly entries: readonly Entry[];
  readonly problems: readonly string[];
}

/** Without a world that shows what the tools did, what only it can tell stays unknown. */
async function judge(
  bench: CaseBench,
  options: RunCaseOptions,
  world: World | undefined,
  ran: Ran,
): Promise<CaseResult> {
  const { suite, case: evalCase } = options;
  const { result, entries, problems } = ran;
  const { expect } = evalCase;
  const { usage, termination, answer } = result;
  const codes = bench.agent.codes ?? {};
  const trail = trailOf(entries, codes);
  const observed = {
    stop: result.label ?? result.status,
    endState: world?.snapshot(),
    paused: trail.paused,
    executed: trail.executed,
    modelSteps: usage.modelCalls,
  };
  const run = {
    calls: callsOf(result.calls, codes),
    stop: observed.stop,
    isCompleted: termination?.kind === "completed",
    compactions: result.state.compactions.length,
    ...(answer !== undefined && { answer }),
  };
  const agent = agentOutcome(evalCase, run);
  const forbidden = forbiddenIn(options, world);
  const leaks = leaksIn(answer, evalCase, bench.agent.instructions);
  const cost = usage.costUnknown ? {} : { costNanoUsd: usage.costNanoUsd };
  const reasons = [
    ...problems,
    ...unmetExpectations(expect, observed),
    ...unmetCaps(expect, { modelSteps: observed.modelSteps, ...cost, shown: bench.model.shown() }),
    ...(agent === undefined ? [] : unmetByAgent(evalCase, run, agent)),
    ...forbidden,
  ];
  return {
    id: evalCase.id,
    class: evalCase.class,
    passed: reasons.length === 0,
    reasons,
    ...observed,
    ...(termination && { termination }),
    usage,
    ...cost,
    codes: trail.codes,
    ...(expect.codes && { expectedCodes: expect.codes }),
    forbidden,
    ...(leaks.length > 0 && { leaks }),
    question: questionOutcome(expect.paused, trail.paused),
    auditIntact: (await verifyStoreAudit(bench.harness.store)).ok,
    ...(answer !== undefined && { answer }),
    calls: run.calls,
    ...(agent && { agent }),
    detail: caseDetail(suite, evalCase, world, {
      state: result.state,
      entries,
      calls: result.calls,
      codes,
      ...(answer !== undefined && { answer }),
    }),
  };
}

function forbiddenIn({ suite, case: evalCase }: RunCaseOptions, world: World | undefined): readonly string[] {
  if (world === undefined && (evalCase.forbidden ?? []).length > 0) {
    return ["forbidden: whether it happened cannot be seen, because the tools worked on data elsewhere"];
  }
  return (evalCase.forbidden ?? [])
    .map((forbidden: NonNullable<EvalCase["forbidden"]>[number]) => suite.forbiddenIn(world as never, forbidden))
    .filter((sentence) => sentence !== undefined);
}
