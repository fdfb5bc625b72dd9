import type { ApprovalRule } from "../../config.ts";
import type { ServerDeps } from "../deps.ts";
import { ruleFor } from "../people/approval-rules.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { ServerDatabase } from "../people/server-database.ts";
import { createStarters } from "../people/starters.ts";
import { createVotes } from "../people/votes.ts";
import { recordVotes } from "./decide.ts";
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
  const context = { ...deps, rules, people, votes: createVotes(database), starters: createStarters(database) };
  let count = 0;
  for (const tenant of new Set(people.list().map((person) => person.tenant))) {
    for (const approvalId of context.votes.questions(tenant)) {
      const approval = await store.approval(tenant, approvalId);
      const found = approval?.status === "pending" ? ruleFor(rules, approval) : undefined;
      if (approval === undefined || found?.ok !== true || found.needed === 1) continue;
      const votes = validVotes(context, approval);
      if (votes.length < found.needed) continue;
      const outcome = await recordVotes(context, approval, votes);
      if (outcome?.status === "recorded") count += 1;
    }
  }
  return count;
}
