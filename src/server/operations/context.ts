import type { ApprovalRule } from "../../config.ts";
import type { ServerDeps } from "../deps.ts";
import type { LiveRuns } from "../live/live-runs.ts";
import type { PeopleStore } from "../people/people-store.ts";
import type { Votes } from "../people/votes.ts";

/** What the operations are made of. */
export interface OperationContext extends ServerDeps {
  readonly people: PeopleStore;
  readonly votes: Votes;
  readonly rules: readonly ApprovalRule[];
  readonly live: LiveRuns;
  /** Most messages of one conversation. */
  readonly messagesMax: number;
}
