import { argsHash } from "../approval/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { checkJsonValue, type JsonValue, type PermissionLevel, type Principal, printable } from "../core/index.ts";
import { type Agent, createHarness, type Harness, type HarnessOptions } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import { newId } from "../ids.ts";
import type { ApprovalRow, RunKey, Store } from "../journal/index.ts";
import type { Rule } from "../policy/index.ts";
import { type ActionRegistry, type AnyAction, createActionRegistry } from "./action.ts";
import { defined } from "./defined.ts";
import { levelRule } from "./level-rule.ts";
import { NO_MODEL } from "./no-model.ts";
import { type ActionOutcome, outcomeOf } from "./outcome.ts";
import type { PermissionBudget } from "./permission-budget.ts";
import { createSanitiser, type Sanitiser, sanitiserRule } from "./sanitiser.ts";
import { inStateTransaction, type StateTransactions } from "./state-transactions.ts";

export interface ActionGateOptions {
  /** Everything that may be done. */
  readonly actions: readonly AnyAction[];
  /** Whose points the actions' costs are taken from. */
  readonly budget: PermissionBudget;
  /** Journal, approvals, balances and audit log. With a durable store a person may answer after a restart. */
  readonly store: Store;
  /** Name in the record and in budgets per agent. Default `action-gate`. */
  readonly name?: string;
  /** Change it with the rules; an approval pins it. Default `1`. */
  readonly revision?: string;
  /** Asked before the rule that judges by level: they may refuse or ask more, and never less. */
  readonly rules?: readonly Rule[];
  /** The highest level that an actor may use. Default: all, the irreversible ones with a person's yes. */
  readonly ceilingOf?: (actor: Principal) => PermissionLevel;
  /** What a suspicious phrase in the arguments does. Default `note`: it is recorded and decides nothing. */
  readonly onSuspicion?: "note" | "ask" | "deny";
  readonly sanitiser?: Sanitiser;
  /** State in memory that changing actions work on, put back when one fails. */
  readonly state?: StateTransactions;
  /** Runs a synchronous function in one transaction of a database; required by `inTransaction` actions. */
  readonly transaction?: Agent["transaction"];
  /** Milliseconds that a question stays open. Default 24 hours. */
  readonly approvalTtlMs?: number;
  readonly mayDecide?: HarnessOptions["mayDecide"];
  readonly clock?: Clock;
  readonly leaseMs?: number;
  readonly onAlarm?: HarnessOptions["onAlarm"];
}

export interface ExecuteOptions {
  /** Who wants it, as the application has authenticated them. */
  readonly actor: Principal;
  readonly tenant?: string;
  /** Names the execution: the same name again gives the first outcome and does nothing twice. */
  readonly runId?: string;
}

export interface DecideOptions {
  /** The person who decides, never the one who asked. */
  readonly actor: Principal;
  readonly tenant?: string;
  readonly note?: string;
  /** What the person was shown; when it differs from the record nothing is decided. */
  readonly argsHash?: string;
}

/** Actions outside of a model loop, through the same controls as a model's calls. */
export interface ActionGate {
  readonly actions: ActionRegistry;
  /** Inbox, recovery, journal: everything that a harness does. */
  readonly harness: Harness;
  /** Does an action, or says why not. Throws only for misuse and lost storage. */
  execute(action: string, args: unknown, options: ExecuteOptions): Promise<ActionOutcome>;
  /** Records a person's yes and does the action, if the rules still let it through. A second yes changes nothing. */
  approveAndExecute(approvalId: string, options: DecideOptions): Promise<ActionOutcome>;
  /** Records a person's no, which is final. */
  reject(approvalId: string, options: DecideOptions): Promise<ActionOutcome>;
  /** Goes on with an execution: after a crash, an expiry, or an outcome of `pending`. */
  resume(run: RunKey): Promise<ActionOutcome>;
}

/**
 * Puts actions behind Belay's controls.
 *
 * Each execution is a run of the engine with one call: arguments are inspected and checked, an unknown action is refused,
 * points are reserved, the rules judge, a person is asked about what cannot be undone (and the points are given back
 * while they think), changing actions run inside a transaction, and all of it is in the journal and the audit log.
 *
 * Throws `BELAY_ACTION_INVALID`, `BELAY_TOOL_*`, `BELAY_RULE_*` and `BELAY_AGENT_INVALID` for what could only fail later.
 */
export function createActionGate(options: ActionGateOptions): ActionGate {
  const registry = createActionRegistry(options.actions);
  const { clock = systemClock } = options;
  const harness = createHarness({
    agent: agentOf(options),
    model: NO_MODEL,
    store: options.store,
    clock,
    ...defined({
      mayDecide: options.mayDecide,
      leaseMs: options.leaseMs,
      onAlarm: options.onAlarm,
    }),
  });
  const resume = async (run: RunKey): Promise<ActionOutcome> =>
    outcomeOf(options.store, await harness.advance({ tenant: run.tenant, runId: run.runId }));
  return {
    actions: registry,
    harness,
    resume,
    execute: async (action, args, { actor, tenant, runId }) => {
      checkActor(actor);
      const id = runId ?? newId("run", clock.now());
      const { result } = harness.run(inputOf(action, args, runId), {
        calls: [{ tool: action, args: { json: args } }],
        principal: actor,
        runId: id,
        // Nothing is said before or after it.
        conversationId: id,
        ...(tenant === undefined ? {} : { tenant }),
      });
      return outcomeOf(options.store, await result);
    },
    approveAndExecute: (approvalId, decision) => decide(harness, approvalId, "approved", decision, resume),
    reject: (approvalId, decision) => decide(harness, approvalId, "rejected", decision, resume),
  };
}

function agentOf(options: ActionGateOptions): Agent {
  const {
    sanitiser = createSanitiser(),
    onSuspicion = "note",
    rules = [],
    state,
    transaction,
    approvalTtlMs,
  } = options;
  return {
    name: options.name ?? "action-gate",
    revision: options.revision ?? "1",
    instructions: "",
    tools: options.actions.map((action) =>
      state === undefined
        ? action
        : inStateTransaction(action, state, (cause) => {
            const detail = `action ${action.name} threw; its changes were taken back`;
            options.onAlarm?.({ code: "TOOL_FAILED", run: { tenant: "", runId: "" }, detail, cause });
          }),
    ),
    rules: [
      ...(onSuspicion === "note" ? [] : [sanitiserRule(sanitiser, onSuspicion)]),
      ...rules,
      levelRule(options.ceilingOf),
    ],
    inspectArguments: (_tool, args) => {
      const found = sanitiser.inspect(args);
      return found.length === 0 ? undefined : { sanitiser: found.map(({ phrase, path }) => ({ phrase, path })) };
    },
    budget: {
      points: Object.fromEntries(options.actions.map(({ name, cost }) => [name, cost])),
      of: options.budget.of,
    },
    ...(approvalTtlMs === undefined ? {} : { approval: { ttlMs: approvalTtlMs } }),
    ...(transaction === undefined ? {} : { transaction }),
  };
}

/** The run's line in the index. With a name given by the caller it tells other arguments apart. */
function inputOf(action: string, args: unknown, runId: string | undefined): string {
  const name = `execute ${printable(String(action), 64)}`;
  if (runId === undefined) return name;
  const checked = checkJsonValue(args);
  return `${name} ${checked.ok ? argsHash(String(action), checked.value as JsonValue) : "(not JSON)"}`;
}

async function decide(
  harness: Harness,
  approvalId: string,
  answer: "approved" | "rejected",
  { actor, tenant = "default", note, argsHash: shown }: DecideOptions,
  resume: (run: RunKey) => Promise<ActionOutcome>,
): Promise<ActionOutcome> {
  const row: ApprovalRow | undefined = await harness.store.approval(tenant, approvalId);
  if (row?.agent !== harness.agent.name) {
    const message = `there is no approval "${printable(approvalId, 80)}" of ${harness.agent.name} in tenant ${tenant}`;
    return { status: "not_permitted", code: "BELAY_APPROVAL_UNKNOWN", message };
  }
  const decided = await harness.decide({
    tenant,
    approvalId,
    answer,
    by: actor,
    ...defined({ note, argsHash: shown }),
  });
  const run: RunKey = { tenant, runId: row.runId };
  switch (decided.status) {
    case "not_permitted":
      return { status: "not_permitted", ...run, code: "BELAY_NOT_PERMITTED", message: decided.reason };
    case "digest_mismatch": {
      const message = "the arguments are not those that were shown; nothing was decided";
      return { status: "not_permitted", ...run, code: "BELAY_APPROVAL_DIGEST", message };
    }
    default:
      // Whoever decided first: what was decided is carried out once, and everybody hears what came of it.
      return resume(run);
  }
}

function checkActor(actor: Principal): void {
  if (typeof actor?.id === "string" && actor.id !== "" && typeof actor.kind === "string") return;
  throw new BelayError("BELAY_NOT_PERMITTED", "An action needs an actor with a kind and an id. Pass who wants it.");
}
