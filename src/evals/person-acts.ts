import { APPROVAL_TTL_MS_DEFAULT, type Harness, type RunResult } from "../engine/index.ts";
import type { ApprovalRow, RunKey } from "../journal/index.ts";
import type { CaseClock } from "./case-clock.ts";
import type { EvalCase, Fault, PersonAct } from "./suite.ts";

/** Who answers the questions of a case. */
const APPROVER: { readonly kind: "person"; readonly id: "approver" } = { kind: "person", id: "approver" };

export interface PersonSetup {
  readonly harness: Harness;
  readonly clock: CaseClock;
  applyFault(fault: Fault): void;
  /** Goes on with a run; in another process when the one that drove it dies. */
  goOn(run: RunKey): Promise<RunResult>;
}

/** The end of a run, and what went otherwise than the case's acts suppose. */
export interface Answered {
  readonly result: RunResult;
  readonly problems: readonly string[];
}

/**
 * Answers the questions of a run, oldest first, one act each, and goes on with the run after each answer.
 *
 * The `pause` faults happen once, before the first answer.
 */
export async function answerQuestions(setup: PersonSetup, first: RunResult, evalCase: EvalCase): Promise<Answered> {
  const acts = [...(evalCase.approvals ?? [])];
  const problems: string[] = [];
  const ignored = new Set<string>();
  let result = first;
  if (result.status === "waiting") {
    evalCase.faults?.filter((fault) => fault.when === "pause").forEach(setup.applyFault);
  }
  while (result.status === "waiting") {
    const question = result.approvals.find((row) => row.status === "pending" && !ignored.has(row.approvalId));
    if (question === undefined) {
      break;
    }
    const act = acts.shift();
    if (act === undefined) {
      problems.push(`no act answers the question about ${question.tool} (${question.code})`);
      break;
    }
    if (act === "ignore") {
      ignored.add(question.approvalId);
      continue;
    }
    problems.push(...(await perform(act, setup, question)));
    result = await setup.goOn(question);
  }
  if (acts.length > 0) {
    problems.push(`nothing was asked for the acts ${acts.join(", ")}`);
  }
  return { result, problems };
}

async function perform(act: PersonAct, setup: PersonSetup, question: ApprovalRow): Promise<string[]> {
  const decide = (answer: "approved" | "rejected", status: "recorded" | "already_decided") =>
    decideAs(setup.harness, question, answer, status);
  switch (act) {
    case "approve":
      return decide("approved", "recorded");
    case "reject":
      return decide("rejected", "recorded");
    case "expire":
      // From the agent's own bound: with the expiry taken out by an ablation the question has no end of its own.
      setup.clock.advanceTo(question.requestedAt + (setup.harness.agent.approval?.ttlMs ?? APPROVAL_TTL_MS_DEFAULT));
      return [];
    case "reject_then_approve":
      return [...(await decide("rejected", "recorded")), ...(await decide("approved", "already_decided"))];
    case "approve_twice": {
      // A double click, and once more when the run has gone on.
      const early = [...(await decide("approved", "recorded")), ...(await decide("approved", "already_decided"))];
      await setup.goOn(question);
      return [...early, ...(await decide("approved", "already_decided"))];
    }
    case "cancel": {
      const cancelled = await setup.harness.cancel(question, APPROVER);
      return cancelled === "recorded" ? [] : [`the run could not be cancelled: ${cancelled}`];
    }
    case "ignore":
      return [];
  }
}

async function decideAs(
  harness: Harness,
  question: ApprovalRow,
  answer: "approved" | "rejected",
  expected: "recorded" | "already_decided",
): Promise<string[]> {
  const { tenant, approvalId, argsHash } = question;
  const outcome = await harness.decide({ tenant, approvalId, answer, by: APPROVER, argsHash });
  return outcome.status === expected
    ? []
    : [`the answer ${answer} to ${question.tool} was taken as ${outcome.status}, expected ${expected}`];
}
