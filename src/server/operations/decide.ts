import { ruleFor } from "../../approval/index.ts";
import type { DecideOutcome } from "../../engine/index.ts";
import { type ApprovalRow, approvalIsIntact, type StoredEntry } from "../../journal/index.ts";
import type { SignedIn } from "../deps.ts";
import type { OperationContext } from "./context.ts";
import type { Decided, DecisionRequest, Vote } from "./operation.ts";
import { principalOf } from "./permission.ts";
import { quorumOf, refusalOf, validVotes } from "./quorum.ts";
import { appOfRun } from "./run-access.ts";

/** A decision that is recorded is answered after this long even when no worker has looked at the world yet. */
const WAIT_MS_DEFAULT = 2000;
const REASON_CHARACTERS_MAX = 1000;

/**
 * Takes a person's answer to a question.
 *
 * A yes that needs further people is kept and nothing else happens; the last one of them records the decision with all
 * names. One no is enough. Then it waits a little for the second look at the world, which may still say no.
 */
export async function decide(context: OperationContext, by: SignedIn, request: DecisionRequest): Promise<Decided> {
  const approval = await context.store.approval(by.tenant, request.approvalId);
  if (approval === undefined) return { status: "unknown" };
  const early = refused(context, by, approval, request);
  if (early !== undefined) return early;
  const reason = request.reason?.toWellFormed().slice(0, REASON_CHARACTERS_MAX);
  if (request.answer === "reject") {
    return told(context, approval, request, await record(context, by, approval, "rejected", reason));
  }
  const found = ruleFor(context.rules, approval);
  if (!found.ok) return { status: "not_permitted", reason: found.reason };
  if (found.needed === 1) {
    return told(context, approval, request, await record(context, by, approval, "approved", reason));
  }
  const at = context.clock.now();
  // The engine looks at the time when it records; a vote is kept here, before that.
  if (at >= approval.expiresAt) return { status: "expired", approval };
  context.votes.add(approval, {
    personId: by.person.id,
    name: by.person.name,
    ...(reason === undefined ? {} : { reason }),
    at,
  });
  const votes = validVotes(context, approval);
  if (votes.length < found.needed) {
    return { status: "collected", approval, quorum: quorumOf(context, by, approval) };
  }
  return told(context, approval, request, await record(context, by, approval, "approved", noteOf(votes)));
}

function refused(
  context: OperationContext,
  by: SignedIn,
  approval: ApprovalRow,
  { argsHash }: DecisionRequest,
): Decided | undefined {
  const reason = refusalOf(context, by, approval);
  if (reason !== undefined) return { status: "not_permitted", reason };
  // Before the digest: who comes too late learns what was decided, whatever page they had open.
  if (approval.status === "expired") return { status: "expired", approval };
  if (approval.status !== "pending") return { status: "already_decided", approval };
  // A line that was edited in the file shows another call than the one that would be made.
  const isShown = argsHash === approval.argsHash && approvalIsIntact(approval);
  return isShown ? undefined : { status: "digest_mismatch", approval };
}

function record(
  context: Pick<OperationContext, "apps">,
  by: SignedIn,
  { tenant, approvalId, argsHash, agent }: ApprovalRow,
  answer: "approved" | "rejected",
  note: string | undefined,
): Promise<DecideOutcome> {
  return appOfRun(context, { agent }).harness.decide({
    tenant,
    approvalId,
    answer,
    by: principalOf(by),
    argsHash,
    ...(note === undefined || note === "" ? {} : { note }),
  });
}

/** Records the decision that enough people have voted for, in the name of the last of them. */
export async function recordVotes(
  context: Pick<OperationContext, "apps" | "people">,
  approval: ApprovalRow,
  votes: readonly Vote[],
): Promise<DecideOutcome | undefined> {
  const last = votes.at(-1);
  const by = last === undefined ? undefined : context.people.find(approval.tenant, last.personId);
  return by === undefined ? undefined : record(context, by, approval, "approved", noteOf(votes));
}

function noteOf(votes: readonly Vote[]): string {
  const each = votes.map(
    ({ name, personId, reason }) => `${name} (${personId})${reason === undefined ? "" : `: ${reason}`}`,
  );
  return `approved by ${votes.length}: ${each.join("; ")}`;
}

async function told(
  context: OperationContext,
  approval: ApprovalRow,
  { answer, waitMs = WAIT_MS_DEFAULT }: DecisionRequest,
  outcome: DecideOutcome,
): Promise<Decided> {
  switch (outcome.status) {
    case "recorded": {
      const stored = (await context.store.approval(approval.tenant, approval.approvalId)) ?? approval;
      if (answer === "reject") return { status: "recorded", approval: stored, isLookedAt: false };
      return secondLook(context, stored, waitMs);
    }
    case "unknown_approval":
      return { status: "unknown" };
    default:
      return outcome;
  }
}

/** Waits until the rules have looked at today's world, for as long as the caller has patience. */
async function secondLook(context: OperationContext, approval: ApprovalRow, waitMs: number): Promise<Decided> {
  const { tenant, runId } = approval;
  let looked: Looked | undefined;
  await context.live.until({ tenant, runId }, waitMs, (entries) => {
    looked = lookOf(approval, entries);
    return looked !== undefined;
  });
  if (looked?.refusal === undefined) return { status: "recorded", approval, isLookedAt: looked !== undefined };
  return { status: "world_changed", approval, ...looked.refusal };
}

interface Looked {
  readonly refusal?: { readonly code: string; readonly reason: string };
}

/** What the rules said about the call after its approval; undefined as long as they have said nothing final. */
function lookOf({ approvalId, callId }: ApprovalRow, entries: readonly StoredEntry[]): Looked | undefined {
  const answered = entries.findIndex(
    ({ event }) => event.type === "approval.resolved" && event.approvalId === approvalId,
  );
  if (answered === -1) return undefined;
  for (const { event } of entries.slice(answered + 1)) {
    const looked = event.type === "run.ended" ? {} : ofCall(callId, event);
    if (looked !== undefined) return looked;
  }
  return undefined;
}

function ofCall(callId: string, event: StoredEntry["event"]): Looked | undefined {
  if (event.type === "call.decided" && event.callId === callId && event.recheck === true) {
    const { verdict, code, reason } = event.decision;
    const isRefused = verdict === "deny" || verdict === "halt" || event.asksAgain === true;
    // Allowed is not the end: inside the transaction of the effect the world is looked at once more.
    return isRefused ? { refusal: { code, reason } } : undefined;
  }
  if (event.type !== "call.settled" || event.callId !== callId) return undefined;
  const { outcome } = event;
  const isRefused = outcome.status === "world_changed" || outcome.status === "refused";
  return isRefused ? { refusal: { code: outcome.error.code, reason: outcome.error.message } } : {};
}
