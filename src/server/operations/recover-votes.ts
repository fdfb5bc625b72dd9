import { ruleFor } from "../../approval/index.ts";
import type { ApprovalRule } from "../../config.ts";
import type { ApprovalRow } from "../../journal/index.ts";
import type { ServerDeps } from "../deps.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { ServerDatabase } from "../people/server-database.ts";
import { createVotes } from "../people/votes.ts";
import { recordVotes } from "./decide.ts";
import type { Vote } from "./operation.ts";
import { validVotes } from "./quorum.ts";

/**
 * Records the decisions whose last vote was kept just before a crash; returns how many. Call it when a server starts.
 */
export async function recoverVotes(
  deps: ServerDeps & {
    readonly people: PeopleStore;
    readonly database: ServerDatabase;
    readonly approvals?: readonly ApprovalRule[];
  },
): Promise<number> {
  const { store, people, database, approvals: rules = [] } = deps;
  const context = { ...deps, rules, people, votes: createVotes(database) };
  let count = 0;
  for (const tenant of new Set(people.list().map((person) => person.tenant))) {
    for (const approvalId of context.votes.questions(tenant)) {
      const approval = await store.approval(tenant, approvalId);
      const votes = approval?.status === "pending" ? enoughVotes(context, approval) : [];
      if (approval === undefined || votes.length === 0) continue;
      const outcome = await recordVotes(context, approval, votes);
      count += outcome?.status === "recorded" ? 1 : 0;
    }
  }
  return count;
}

/** The votes on a question when they suffice, else none. */
function enoughVotes(context: Parameters<typeof validVotes>[0], approval: ApprovalRow): readonly Vote[] {
  const found = ruleFor(context.rules, approval);
  const votes = validVotes(context, approval);
  return found.ok && found.needed > 1 && votes.length >= found.needed ? votes : [];
}
