import { createHash } from "node:crypto";
import type { CallState, Principal } from "../core/index.ts";
import { type Agent, createHarness, type Harness, type HarnessOptions, type RunResult } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey } from "../journal/index.ts";
import { undoName } from "../tool/index.ts";
import { effectsOfRun, type RunEffect } from "./effects-of-run.ts";
import { NO_MODEL } from "./no-model.ts";
import { type UndoArguments, undoAgent } from "./undo-agent.ts";

export interface UndoOptions extends Omit<HarnessOptions, "agent" | "model" | "budgets" | "prices"> {
  /** The agent whose runs are taken back. */
  readonly agent: Agent;
}

/** Takes back what runs did, call by call, each in a run of its own. */
export interface Undo {
  /** Inbox and recovery of the runs that take back. */
  readonly harness: Harness;
  /**
   * Goes as far back in a run as it can; what was done before is not done again.
   *
   * Throws `BELAY_RUN_UNKNOWN`, `BELAY_RUN_OTHER_AGENT`, and `BELAY_ROLLBACK_UNFINISHED` for a run that has not ended.
   */
  undo(run: RunKey, options: UndoRequest): Promise<UndoReport>;
}

export interface UndoRequest {
  /** Who wants it; another person has to answer what it asks. */
  readonly by: Principal;
  /** What was done up to and including this step stays. Default 0: nothing stays. */
  readonly to?: number;
  readonly signal?: AbortSignal;
}

export interface UndoReport extends RunKey {
  /** Last effect first. */
  readonly calls: readonly UndoneCall[];
  /** Whether nothing that can be taken back is left, and nothing was found that cannot. */
  readonly isWhole: boolean;
}

export interface UndoneCall {
  readonly callId: string;
  readonly step: number;
  readonly tool: string;
  /**
   * `undone`: now or before. `impossible`: no compensation, or nobody knows whether the call happened. `waiting`: a
   * person has to answer first. `refused`: rules, a person or the tool said no. `unknown`: nobody knows whether it was
   * taken back. `pending`: another process is at work on it. `blocked`: a later effect has to be taken back before.
   */
  readonly status: "undone" | "impossible" | "waiting" | "refused" | "unknown" | "pending" | "blocked";
  readonly code?: string;
  readonly reason?: string;
  /** The run in which it was taken back. */
  readonly undoRun?: string;
  readonly approvalId?: string;
}

/**
 * Makes compensations run: through the rules, the approval and the audit log of the agent that did what is taken back.
 *
 * The run that takes one call back is named after that call, so two processes, or one that was killed and one that goes
 * on, meet in the same run, and the engine does its one call once.
 */
export function createUndo(options: UndoOptions): Undo {
  const { agent, ...seams } = options;
  const harness = createHarness({
    ...seams,
    // What went wrong is mended also while too much is going on.
    queueMax: Number.MAX_SAFE_INTEGER,
    agent: undoAgent(agent),
    model: NO_MODEL,
  });
  return {
    harness,
    async undo(run, request) {
      const { state, effects } = await effectsOfRun(options.store, run);
      if (state.agent.name !== agent.name) {
        throw new BelayError(
          "BELAY_RUN_OTHER_AGENT",
          `run ${run.runId} belongs to the agent ${state.agent.name}, not ${agent.name}; take it back with its own app`,
        );
      }
      const calls: UndoneCall[] = [];
      let isBlocked = false;
      for (const effect of effects.filter(({ call }) => call.step > (request.to ?? 0))) {
        const impossible = impossibility(harness, effect);
        if (impossible !== undefined || isBlocked) {
          calls.push(impossible ?? { ...nameOf(effect.call), status: "blocked" });
          continue;
        }
        const undone = await undoCall(harness, run, effect, request);
        calls.push(undone);
        // The order in which things are taken back matters, so nothing before what is still there is touched.
        isBlocked = undone.status !== "undone";
      }
      const { tenant, runId } = run;
      return { tenant, runId, calls, isWhole: calls.every(({ status }) => status === "undone") };
    },
  };
}

function nameOf({ call, step }: CallState): Pick<UndoneCall, "callId" | "step" | "tool"> {
  return { callId: call.callId, step, tool: call.tool };
}

/** What can be said without trying. */
function impossibility(harness: Harness, { call, result }: RunEffect): UndoneCall | undefined {
  const impossible = (code: string, reason: string): UndoneCall => ({
    ...nameOf(call),
    status: "impossible",
    code,
    reason,
  });
  if (call.reconciled?.outcome === "happened" && result === undefined) {
    return impossible(
      "VALUE_MISSING",
      `${call.reconciled.by.id} found that it happened and not what it gave; mend it by hand`,
    );
  }
  if (call.outcome?.status === "unknown" && result === undefined) {
    return impossible("OUTCOME_UNKNOWN", "nobody knows whether it happened; find out, and mend it by hand");
  }
  if (result === undefined) return impossible("RESULT_MISSING", "the store has lost what the call gave");
  const { tool } = call.call;
  return harness.agent.tools.some(({ name }) => name === undoName(tool))
    ? undefined
    : impossible("NO_COMPENSATION", `the tool ${tool} has no compensate function`);
}

/** Outcomes after which nothing was taken back and another try is no repetition. A person's no is not among them. */
const MAY_TRY_AGAIN: ReadonlySet<string> = new Set([
  "failed",
  "denied",
  "expired",
  "refused",
  "world_changed",
  "not_run",
]);

async function undoCall(harness: Harness, run: RunKey, effect: RunEffect, request: UndoRequest): Promise<UndoneCall> {
  for (let attempt = 1; ; attempt += 1) {
    const undoRun: RunKey = { tenant: run.tenant, runId: undoRunId(run.runId, effect.call.call.callId, attempt) };
    const isNew = (await harness.store.run(undoRun)) === undefined;
    if (isNew) await startUndo(harness, run, undoRun, effect, request);
    const result = await harness.advance(undoRun, request.signal === undefined ? {} : { signal: request.signal });
    const mayTryAgain = MAY_TRY_AGAIN.has(result.calls[0]?.outcome?.status ?? "");
    if (isNew || !mayTryAgain) return reportOf(effect.call, result);
  }
}

async function startUndo(
  harness: Harness,
  run: RunKey,
  undoRun: RunKey,
  { call, result = null }: RunEffect,
  { by }: UndoRequest,
): Promise<void> {
  const { callId, tool, args } = call.call;
  const given: UndoArguments = { run: run.runId, call: callId, args, result };
  await harness.start(`undo ${callId} ${tool} of run ${run.runId}`, {
    ...undoRun,
    conversationId: boundedId(`${run.runId}.undo`),
    principal: by,
    calls: [{ tool: undoName(tool), args: { json: given } }],
  });
}

function reportOf(call: CallState, result: RunResult): UndoneCall {
  const named = { ...nameOf(call), undoRun: result.runId };
  const [approval] = result.approvals;
  if (approval !== undefined) {
    const { approvalId, code, reason } = approval;
    return { ...named, status: "waiting", approvalId, code, reason };
  }
  const outcome = result.calls[0]?.outcome;
  if (outcome === undefined) return { ...named, status: "pending", code: "PENDING", reason: `it is ${result.status}` };
  if (outcome.status === "ok") return { ...named, status: "undone" };
  const { code, message } = outcome.error;
  return { ...named, status: outcome.status === "unknown" ? "unknown" : "refused", code, reason: message };
}

function undoRunId(runId: string, callId: string, attempt: number): string {
  return boundedId(`${runId}.undo.${callId}${attempt === 1 ? "" : `.${attempt}`}`);
}

/** Ids have 128 characters at most; a longer one is named by its hash. */
function boundedId(id: string): string {
  return id.length <= 128 ? id : `undo.${createHash("sha256").update(id).digest("hex")}`;
}
