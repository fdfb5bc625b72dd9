import type { AnyApp, World } from "../config.ts";
import { createAblatedHarness } from "../engine/ablation.ts";
import type { Agent, Harness, RunResult } from "../engine/index.ts";
import { createHarness } from "../engine/index.ts";
import { createMemoryStore, verifyStoreAudit } from "../journal/index.ts";
import { jsonProtocol } from "../model/index.ts";
import { questionOutcome, unmetExpectations } from "./case-check.ts";
import { type CaseClock, createCaseClock } from "./case-clock.ts";
import { type CaseModel, createCaseModel } from "./case-model.ts";
import type { CaseResult } from "./case-result.ts";
import { trailOf } from "./case-trail.ts";
import { answerQuestions, type PersonSetup } from "./person-acts.ts";
import type { EvalCase, EvalSuite, Fault } from "./suite.ts";

export interface RunCaseOptions {
  readonly app: AnyApp;
  readonly suite: EvalSuite;
  readonly case: EvalCase;
  /** Ids of controls to leave out, such as `rule:named_order`. */
  readonly without?: readonly string[];
}

interface Bench extends PersonSetup {
  readonly agent: Agent;
  readonly model: CaseModel;
  readonly principalId: string;
}

const TENANT = "default";
const CONVERSATION = "cnv_case";

/**
 * Runs one case in a world, a store and a time of its own, and compares what happened with what the case expects.
 *
 * Usage, steps and codes are those of the last turn alone; the audit log is that of every turn. Rejects when the case
 * cannot be set up: a fault that the app does not know, a control that is not there.
 */
export async function runCase(options: RunCaseOptions): Promise<CaseResult> {
  const world = options.app.openWorld(":memory:");
  try {
    const bench = createBench(options, world);
    try {
      return await runOn(bench, options, world);
    } finally {
      await bench.harness.store.close();
    }
  } finally {
    world.close();
  }
}

function createBench({ app, suite, case: evalCase, without }: RunCaseOptions, world: World): Bench {
  const clock = createCaseClock(Date.now());
  const model = createCaseModel();
  // The world came from this very app, whose type of world is lost in a list of apps.
  const declared = app.agent(world as never, clock.now);
  const agent = { ...declared, limits: { ...declared.limits, ...evalCase.limits } };
  return {
    agent,
    clock,
    model,
    harness: createBenchHarness(app, agent, clock, model, without),
    principalId: evalCase.principal ?? app.defaultPrincipal ?? "customer",
    applyFault: (fault: Fault) => {
      if (!clock.applyFault(fault)) {
        suite.applyFault(world as never, fault);
      }
    },
  };
}

function createBenchHarness(
  app: AnyApp,
  agent: Agent,
  clock: CaseClock,
  model: CaseModel,
  without: readonly string[] = [],
): Harness {
  let made = 0;
  const options = {
    agent,
    model: jsonProtocol(model),
    clock,
    ...(app.prices && { prices: app.prices }),
    newId: (prefix: string) => {
      made += 1;
      return `${prefix}_${made}`;
    },
  };
  return without.length > 0
    ? createAblatedHarness(options, without)
    : createHarness({ ...options, store: createMemoryStore() });
}

async function runOn(bench: Bench, { suite, case: evalCase }: RunCaseOptions, world: World): Promise<CaseResult> {
  const problems: string[] = [];
  for (const turn of evalCase.before ?? []) {
    const { status } = await say(bench, turn.message, turn.script, problems);
    if (status !== "done") {
      problems.push(`the earlier turn ${JSON.stringify(turn.message)} is ${status}, expected done`);
    }
  }
  // Between the earlier turns and this one the world may have moved on.
  evalCase.faults?.filter((fault) => fault.when === "start").forEach(bench.applyFault);
  bench.model.load(evalCase.script);
  const first = await start(bench, evalCase.message, evalCase.offeredTools);
  const { result, problems: unanswered } = await answerQuestions(bench, first, evalCase);
  problems.push(...unanswered);
  addScriptProblem(bench, problems);
  return judge(bench, evalCase, result, problems, {
    endState: world.snapshot(),
    forbidden: (evalCase.forbidden ?? [])
      .map((forbidden) => suite.forbiddenIn(world as never, forbidden))
      .filter((sentence) => sentence !== undefined),
  });
}

async function say(bench: Bench, message: string, script: readonly string[], problems: string[]): Promise<RunResult> {
  bench.model.load(script);
  const result = await start(bench, message);
  addScriptProblem(bench, problems);
  return result;
}

function start(bench: Bench, message: string, offeredTools?: readonly string[]): Promise<RunResult> {
  return bench.harness.run(message, {
    tenant: TENANT,
    conversationId: CONVERSATION,
    principal: { kind: "customer", id: bench.principalId },
    ...(offeredTools && { offeredTools }),
  }).result;
}

function addScriptProblem(bench: Bench, problems: string[]): void {
  const problem = bench.model.problem();
  if (problem !== undefined) {
    problems.push(problem);
  }
}

async function judge(
  bench: Bench,
  evalCase: EvalCase,
  result: RunResult,
  problems: readonly string[],
  end: { readonly endState: unknown; readonly forbidden: readonly string[] },
): Promise<CaseResult> {
  const { expect } = evalCase;
  const { usage, termination, answer } = result;
  const trail = trailOf(await bench.harness.entries(result), bench.agent.codes);
  const observed = {
    stop: result.label ?? result.status,
    endState: end.endState,
    paused: trail.paused,
    executed: trail.executed,
    modelSteps: usage.modelCalls,
  };
  const reasons = [...problems, ...unmetExpectations(expect, observed), ...end.forbidden];
  return {
    id: evalCase.id,
    class: evalCase.class,
    passed: reasons.length === 0,
    reasons,
    ...observed,
    ...(termination && { termination }),
    usage,
    ...(usage.costUnknown ? {} : { costNanoUsd: usage.costNanoUsd }),
    codes: trail.codes,
    ...(expect.codes && { expectedCodes: expect.codes }),
    forbidden: end.forbidden,
    question: questionOutcome(expect.paused, trail.paused),
    auditIntact: (await verifyStoreAudit(bench.harness.store)).ok,
    ...(answer !== undefined && { answer }),
  };
}
