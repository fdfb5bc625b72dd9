import {
  type CallState,
  type Decision,
  findCall,
  fold,
  type JsonValue,
  type PermissionLevel,
  type RecoveryClass,
  type RunState,
} from "../../../core/index.ts";
import { type ApprovalRow, approvalIsIntact, type RunRow, type StoredEntry } from "../../../journal/index.ts";
import type { SignedIn } from "../../deps.ts";
import { appOf, type PageKit } from "../shell/kit.ts";

/** Everything that a person should know before deciding. */
export interface RequestFacts {
  readonly row: ApprovalRow;
  /** False: tool or arguments of the line were changed in the store, and are not what was asked about. */
  readonly isIntact: boolean;
  readonly run: RunRow;
  readonly entries: readonly StoredEntry[];
  /** The decision that asked, with what its rule read. */
  readonly asked?: Decision;
  /** The look at the world after the answer. */
  readonly recheck?: Decision;
  /** Where the call stands now. */
  readonly call?: CallState;
  /** Results of calls that only looked, up to the question, newest last. */
  readonly lookups: readonly { readonly tool: string; readonly args: JsonValue; readonly value: JsonValue }[];
  readonly tool?: { readonly description: string; readonly level: PermissionLevel; readonly recovery: RecoveryClass };
}

const LOOKUPS_MAX = 5;

/** Gathers what is recorded about a question; undefined when there is no such question in the person's tenant. */
export async function requestFacts(
  { deps }: PageKit,
  { tenant }: SignedIn,
  approvalId: string,
): Promise<RequestFacts | undefined> {
  const row = await deps.store.approval(tenant, approvalId);
  const run = row && (await deps.store.run(row));
  if (row === undefined || run === undefined) {
    return undefined;
  }
  const entries = await deps.store.read(run);
  const decisions = entries.flatMap(({ event }) =>
    event.type === "call.decided" && event.callId === row.callId ? [event] : [],
  );
  const asked = decisions.find(({ recheck }) => recheck === undefined)?.decision;
  const recheck = decisions.findLast((event) => event.recheck === true)?.decision;
  const state = fold(entries);
  const call =
    state && (findCall(state, row.callId) ?? state.earlierCalls.find((each) => each.call.callId === row.callId));
  const tool = appOf(deps, row.agent)?.harness.agent.tools.find(({ name }) => name === row.tool);
  return {
    row,
    isIntact: approvalIsIntact(row),
    run,
    entries,
    lookups: lookupsOf(state, row.requestedAt, entries),
    ...(asked !== undefined && { asked }),
    ...(recheck !== undefined && { recheck }),
    ...(call !== undefined && { call }),
    ...(tool !== undefined && { tool: { description: tool.description, level: tool.level, recovery: tool.recovery } }),
  };
}

function lookupsOf(
  state: RunState | undefined,
  until: number,
  entries: readonly StoredEntry[],
): RequestFacts["lookups"] {
  const settledAt = new Map(entries.map(({ at, event }) => [event.type === "call.settled" ? event.callId : "", at]));
  return [...(state?.earlierCalls ?? []), ...(state?.turn ?? [])]
    .filter(({ call }) => call.effect === "read" && (settledAt.get(call.callId) ?? Number.POSITIVE_INFINITY) <= until)
    .flatMap(({ call: { tool, args }, outcome }) =>
      outcome?.status === "ok" && outcome.value.json !== undefined ? [{ tool, args, value: outcome.value.json }] : [],
    )
    .slice(-LOOKUPS_MAX);
}
