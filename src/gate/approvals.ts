import { type Clock, systemClock } from "../clock.ts";
import type { JsonValue, Principal } from "../core/index.ts";
import type { HarnessOptions } from "../engine/index.ts";
import type { ApprovalRow, Store } from "../journal/index.ts";
import { ask } from "../policy/index.ts";
import type { ToolSchema } from "../tool/index.ts";
import { defineAction } from "./action.ts";
import { createActionGate, type DecideOptions } from "./action-gate.ts";
import { defined } from "./defined.ts";
import type { ActionOutcome } from "./outcome.ts";
import { permissionBudget } from "./permission-budget.ts";

export interface ApprovalsOptions {
  /** With a durable store a person may answer after a restart. */
  readonly store: Store;
  readonly tenant?: string;
  /** Name in the record. Default `approvals`. */
  readonly name?: string;
  /** Milliseconds that a question stays open. Default 24 hours. */
  readonly ttlMs?: number;
  /** Who may answer which question. Default: every person but the one who asks. */
  readonly mayDecide?: HarnessOptions["mayDecide"];
  readonly clock?: Clock;
}

export interface Question {
  /** What is asked for, and every detail that the yes covers. */
  readonly about: JsonValue;
  /** Told to the person beside it. */
  readonly reason: string;
  readonly actor: Principal;
  /** Names the question: the same name again is the same question, whatever its answer. */
  readonly id?: string;
}

/** `approved` once a person has said yes; what was not answered in time is `expired`. */
export type Answer =
  | { readonly status: "waiting"; readonly approvalId: string; readonly argsHash: string; readonly expiresAt: number }
  | { readonly status: "approved" | "rejected" | "expired"; readonly approvalId: string }
  /** This person may not decide it, or it is not what was shown, or there is no such question. */
  | { readonly status: "not_permitted"; readonly code: string; readonly message: string };

/** A person's approval without agent and tools: durable, bound to what was shown, given once, and in the audit log. */
export interface Approvals {
  ask(question: Question): Promise<Answer>;
  approve(approvalId: string, decision: Omit<DecideOptions, "tenant">): Promise<Answer>;
  reject(approvalId: string, decision: Omit<DecideOptions, "tenant">): Promise<Answer>;
  /** What has become of a question; one whose time is over is closed by looking. */
  look(approvalId: string): Promise<Answer>;
  /** The inbox, oldest first. */
  waiting(): Promise<readonly ApprovalRow[]>;
}

const JSON_SCHEMA = {
  type: "object",
  properties: { about: {}, reason: { type: "string" } },
  required: ["about", "reason"],
  additionalProperties: false,
};

interface Asked {
  readonly about: JsonValue;
  readonly reason: string;
}

// Written out, because this folder must not need a schema library.
const INPUT: ToolSchema<Asked> = {
  "~standard": {
    version: 1,
    vendor: "belay",
    validate: (value) =>
      typeof (value as Partial<Asked>).reason === "string"
        ? { value: value as Asked }
        : { issues: [{ message: "expected a string", path: ["reason"] }] },
    jsonSchema: { input: () => JSON_SCHEMA, output: () => JSON_SCHEMA },
  },
};

const QUESTION = defineAction({
  name: "question",
  description: "Asks a person",
  // The rule of the question asks; the one of the levels has nothing to add.
  level: "admin",
  recovery: "keyed",
  cost: 0,
  input: INPUT,
  execute: () => ({ approved: true }),
});

/**
 * A person's approval on its own: the gate's, around a call that does nothing.
 *
 * A yes counts once: `ask` with the same id goes on saying `approved`, so do what it covers under that id as its key.
 */
export function createApprovals(options: ApprovalsOptions): Approvals {
  const { store, tenant = "default", name = "approvals", clock = systemClock } = options;
  const gate = createActionGate({
    actions: [QUESTION],
    budget: permissionBudget({ total: 0 }),
    store,
    name,
    clock,
    rules: [{ id: "belay.question", decide: ({ args }) => ask("QUESTION", (args as unknown as Asked).reason) }],
    ...defined({ approvalTtlMs: options.ttlMs, mayDecide: options.mayDecide }),
  });
  const look = async (approvalId: string): Promise<Answer> => {
    const row = await store.approval(tenant, approvalId);
    return row?.agent === name ? answerOf(await gate.resume(row), row.approvalId) : unknown(approvalId);
  };
  return {
    look,
    async ask({ about, reason, actor, id }) {
      const outcome = await gate.execute("question", { about, reason }, { actor, tenant, ...defined({ runId: id }) });
      if (!("runId" in outcome) || outcome.runId === undefined) return answerOf(outcome, "");
      const [row] = await store.approvals({ tenant, runId: outcome.runId, limit: 1 });
      return answerOf(outcome, row?.approvalId ?? "");
    },
    approve: async (approvalId, decision) =>
      answerOf(await gate.approveAndExecute(approvalId, { ...decision, tenant }), approvalId),
    reject: async (approvalId, decision) =>
      answerOf(await gate.reject(approvalId, { ...decision, tenant }), approvalId),
    waiting: async () => (await store.approvals({ tenant, status: "pending" })).filter(({ agent }) => agent === name),
  };
}

function answerOf(outcome: ActionOutcome, approvalId: string): Answer {
  switch (outcome.status) {
    case "done":
      return { status: "approved", approvalId };
    case "approval_required": {
      const { argsHash, expiresAt } = outcome;
      return { status: "waiting", approvalId: outcome.approvalId, argsHash, expiresAt };
    }
    case "rejected":
    case "expired":
      return { status: outcome.status, approvalId };
    default:
      return { status: "not_permitted", code: outcome.code, message: outcome.message };
  }
}

function unknown(approvalId: string): Answer {
  const message = `there is no such question: ${approvalId.slice(0, 80)}`;
  return { status: "not_permitted", code: "BELAY_APPROVAL_UNKNOWN", message };
}
