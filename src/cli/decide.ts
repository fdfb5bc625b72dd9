import { ruleFor } from "../approval/index.ts";
import type { DecideOutcome, Harness } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { ApprovalRow, RunKey, Store } from "../journal/index.ts";
import {
  CONFIG_OPTIONS,
  type Command,
  type CommandInput,
  DATABASE_OPTIONS,
  hasFlag,
  JSON_OPTION,
  textOption,
} from "./command.ts";
import { goOn } from "./go-on.ts";
import type { LoadedConfig } from "./load-config.ts";
import { chosenModel, MODEL_OPTIONS } from "./model-option.ts";
import { openStore, type Place, placeOf, withStore } from "./place.ts";
import { appNameOfAgent, findPerson, harnessOf, mayApprove, openApp, projectConfig } from "./project.ts";
import { exitCodeOfRun } from "./run.ts";
import { printApproval, printResult, resultJson } from "./run-result.ts";
import { checkSameModel } from "./same-model.ts";
import { createStory } from "./story.ts";
import { usageError } from "./usage.ts";

type Answer = "approved" | "rejected";

const DECIDE_OPTIONS = {
  by: { type: "string", value: "person", help: "person of the configuration who decides (approver or admin)" },
  reason: { type: "string", value: "text", help: "kept with the decision" },
  "no-run": { type: "boolean", help: "only record the decision; a worker or belay recover goes on" },
  ...MODEL_OPTIONS,
  ...JSON_OPTION,
  ...DATABASE_OPTIONS,
  ...CONFIG_OPTIONS,
} as const;

export const approveCommand: Command = {
  name: "approve",
  summary: "say yes to a question; the rules look at the world once more before anything happens",
  positionals: [{ name: "approval" }],
  options: DECIDE_OPTIONS,
  examples: ["approve apr_1 --by dana", 'approve apr_1 --by dana --reason "receipt seen" --no-run'],
  run: (input) => decide(input, "approved"),
};

export const rejectCommand: Command = {
  name: "reject",
  summary: "say no to a question; that is final",
  positionals: [{ name: "approval" }],
  options: DECIDE_OPTIONS,
  examples: ['reject apr_1 --by dana --reason "not this month"'],
  run: (input) => decide(input, "rejected"),
};

async function decide(input: CommandInput, answer: Answer): Promise<number> {
  const place = placeOf(input);
  const by = textOption(input, "by");
  if (by === undefined) {
    throw usageError("A decision needs --by <person>.");
  }
  const config = await projectConfig(input);
  checkPerson(config, by);
  const chosen = await chosenModel(input);
  return withStore(openStore(place), async (store) => {
    const row = await openQuestion(input, store, place);
    const name = await appNameOfAgent(config, row.agent);
    if (answer === "approved") checkAnswersAlone(config, row);
    const isRejection = answer === "rejected";
    const opened = await openApp(config, name, place, store, input.output.progress, {
      chosen,
      allowOtherModel: textOption(input, "model") !== undefined,
      isRejection,
    });
    try {
      // Before the decision, which would otherwise stand without a model to go on with.
      if (!hasFlag(input, "no-run")) await checkSameModel(input, opened, row, true);
      return await decideOn(input, harnessOf(opened, row.agent), row, answer, by);
    } finally {
      opened.close();
    }
  });
}

/** Throws `BELAY_NOT_PERMITTED` for whoever is no approver or admin of the configuration. */
export function checkPerson(config: LoadedConfig, id: string): void {
  const person = findPerson(config, id);
  if (!mayApprove(person)) {
    const able = config.people?.filter(mayApprove).map((other) => other.id) ?? [];
    const who = person === undefined ? "is not a person of" : `has only the roles ${person.roles.join(", ")} in`;
    throw new BelayError(
      "BELAY_NOT_PERMITTED",
      `${JSON.stringify(id)} ${who} ${config.file} and may not decide. These may: ${able.join(", ") || "nobody"}.`,
    );
  }
}

/** This command records one answer and knows of no others. */
function checkAnswersAlone(config: LoadedConfig, approval: ApprovalRow): void {
  const found = ruleFor(config.approvals ?? [], approval);
  if (!found.ok || found.needed === 1) return;
  throw new BelayError(
    "BELAY_APPROVAL_QUORUM",
    `The question ${approval.approvalId} takes the yes of ${found.needed} people, and this command gives one. Nothing was ` +
      "decided. Answer it in the console, which counts them: belay serve.",
  );
}

async function openQuestion(input: CommandInput, store: Store, { tenant }: Place): Promise<ApprovalRow> {
  const [approvalId = ""] = input.positionals;
  const row = await store.approval(tenant, approvalId);
  if (row === undefined) {
    throw unknownApproval(approvalId, tenant);
  }
  // One that has expired is told apart after the run has gone on, since it may not have been looked at since.
  return row.status === "pending" || row.status === "expired" ? row : refuseDecided(input, row);
}

async function decideOn(
  input: CommandInput,
  harness: Harness,
  { tenant, approvalId, argsHash, runId }: ApprovalRow,
  answer: Answer,
  by: string,
): Promise<number> {
  const run = { tenant, runId };
  const told = (await harness.store.read(run)).length;
  const note = textOption(input, "reason");
  const outcome = await harness.decide({
    tenant,
    approvalId,
    answer,
    by: { kind: "person", id: by },
    argsHash,
    ...(note !== undefined && { note }),
  });
  if (outcome.status === "expired") {
    await goOn(harness, run, input.signal);
    throw expired(outcome.approval);
  }
  checkRecorded(input, outcome, approvalId, tenant);
  if (hasFlag(input, "no-run")) {
    return reportRecorded(input, run, answer, approvalId);
  }
  const result = await goOn(harness, run, input.signal);
  if (hasFlag(input, "json")) {
    input.output.json(resultJson(result, false), 2);
  } else {
    await tellSince(input, harness.store, run, told);
    printResult(input.output, result);
  }
  // A run that ends because a person said no has done what it should.
  return answer === "rejected" ? 0 : exitCodeOfRun(result.status);
}

function checkRecorded(input: CommandInput, outcome: DecideOutcome, approvalId: string, tenant: string): void {
  switch (outcome.status) {
    case "recorded":
      return;
    case "already_decided":
      refuseDecided(input, outcome.approval);
      return;
    case "unknown_approval":
      throw unknownApproval(approvalId, tenant);
    case "expired":
      throw expired(outcome.approval);
    case "not_permitted":
      throw new BelayError(
        "BELAY_NOT_PERMITTED",
        `The approval ${approvalId} is not theirs to decide: ${outcome.reason}.`,
      );
    case "digest_mismatch":
      throw new BelayError(
        "BELAY_APPROVAL_DECIDED",
        `The arguments of ${approvalId} are not those that were read. Look again: belay approvals --all.`,
      );
  }
}

/** The stored outcome is data; that nothing was decided now is the error. */
function refuseDecided(input: CommandInput, row: ApprovalRow): never {
  if (hasFlag(input, "json")) {
    input.output.json(row, 2);
  } else {
    printApproval(input.output, row);
  }
  throw new BelayError(
    "BELAY_APPROVAL_DECIDED",
    `The approval ${row.approvalId} is already ${row.status}; the first answer stands and nothing was changed.`,
  );
}

function unknownApproval(approvalId: string, tenant: string): BelayError {
  return new BelayError(
    "BELAY_APPROVAL_UNKNOWN",
    `There is no approval ${JSON.stringify(approvalId)} of the tenant ${tenant}. See belay approvals.`,
  );
}

function expired({ approvalId, expiresAt }: ApprovalRow): BelayError {
  return new BelayError(
    "BELAY_APPROVAL_EXPIRED",
    `The approval ${approvalId} expired at ${new Date(expiresAt).toISOString()}; nothing was done. Start the run again.`,
  );
}

function reportRecorded(input: CommandInput, run: RunKey, answer: Answer, approvalId: string): number {
  if (hasFlag(input, "json")) {
    input.output.json({ ...run, approvalId, answer, status: "recorded" }, 2);
  } else {
    input.output.line(`${approvalId} ${answer}; the run ${run.runId} has not gone on yet (belay recover)`);
  }
  return 0;
}

async function tellSince(input: CommandInput, store: Store, run: RunKey, told: number): Promise<void> {
  const story = createStory(input.output);
  for (const [at, entry] of (await store.read(run)).entries()) {
    if (at < told) {
      story.recall(entry);
    } else {
      story.tell(entry);
    }
  }
}
