import { setTimeout as sleep } from "node:timers/promises";
import { interrupt, type LangGraphRunnableConfig } from "@langchain/langgraph";
import type { JsonValue, Principal } from "../../core/index.ts";
import type { Harness, RunResult } from "../../engine/index.ts";
import { BelayError } from "../../errors.ts";
import type { RunKey } from "../../journal/index.ts";

/** What a graph is interrupted with: everything that a person has to see. */
export interface ApprovalInterrupt extends RunKey {
  readonly type: "belay.approval";
  readonly approvals: readonly {
    readonly approvalId: string;
    readonly tool: string;
    readonly args: JsonValue;
    /** The answer is bound to it. */
    readonly argsHash: string;
    readonly code: string;
    readonly reason: string;
    /** Milliseconds since the epoch. */
    readonly expiresAt: number;
  }[];
  /** Why answers that came with the last resume were not recorded. */
  readonly problems?: readonly string[];
}

/** A person's answer as the server has authenticated it. */
export interface GraphDecision {
  readonly approvalId: string;
  readonly answer: "approved" | "rejected";
  readonly by: Principal;
  readonly argsHash?: string;
  readonly note?: string;
}

export interface SettleOptions {
  /**
   * Makes answers of the value that a graph is resumed with. Take `by` from what your server knows (`config`), never
   * from the value, which may come from a client. Default: none, and a resume only looks whether somebody has answered
   * elsewhere (`harness.decide`, `belay approve`).
   */
  readonly decisionsOf?: (resume: unknown, config: LangGraphRunnableConfig) => readonly GraphDecision[];
  /** Milliseconds to wait for another process that works on the same run. Default 20,000. */
  readonly waitMs?: number;
}

const WAIT_MS_DEFAULT = 20_000;
const LOOK_AGAIN_MS = 25;

/**
 * Drives a run until it ends, interrupting the graph as often as people are asked.
 *
 * A graph runs the whole node again when it is resumed. That is harmless here: the run is where it was, an answer that
 * comes again changes nothing, and an effect that happened is not repeated.
 */
export async function settleRun(
  harness: Harness,
  run: RunKey,
  config: LangGraphRunnableConfig,
  options: SettleOptions,
): Promise<RunResult> {
  let problems: readonly string[] = [];
  for (;;) {
    const result = await advanceInTime(harness, run, config, options.waitMs ?? WAIT_MS_DEFAULT);
    if (result.approvals.length === 0) return result;
    const asked: ApprovalInterrupt = {
      type: "belay.approval",
      ...run,
      approvals: result.approvals.map(({ approvalId, tool, args, argsHash, code, reason, expiresAt }) => {
        return { approvalId, tool, args, argsHash, code, reason, expiresAt };
      }),
      ...(problems.length === 0 ? {} : { problems }),
    };
    // Throws to stop the graph, and gives the value when the graph is resumed.
    const resume: unknown = interrupt(asked);
    problems = await record(harness, run, () => options.decisionsOf?.(resume, config) ?? []);
  }
}

/**
 * Records answers and says why some were not. A graph hands the same value to every later try of the node, so a bad one
 * must not throw: the thread could never go on.
 */
async function record(harness: Harness, run: RunKey, read: () => readonly GraphDecision[]): Promise<readonly string[]> {
  let decisions: readonly GraphDecision[];
  try {
    decisions = [...read()];
  } catch {
    return ["the value that the graph was resumed with holds no answers that can be read"];
  }
  const problems: string[] = [];
  for (const decision of decisions) {
    const problem = await recordOne(harness, run, decision);
    if (problem !== undefined) problems.push(problem);
  }
  return problems;
}

async function recordOne(
  harness: Harness,
  { tenant, runId }: RunKey,
  decision: GraphDecision,
): Promise<string | undefined> {
  const id: unknown = decision?.approvalId;
  // Ids may come from a client, and a thread answers its own questions only.
  const row = typeof id === "string" ? await harness.store.approval(tenant, id) : undefined;
  if (row?.runId !== runId) return "unknown_approval";
  try {
    const outcome = await harness.decide({ ...decision, tenant });
    if (outcome.status === "recorded") return undefined;
    return outcome.status === "not_permitted" ? `not_permitted: ${outcome.reason}` : outcome.status;
  } catch (error) {
    // Lost storage is worth another try of the whole node; an answer without a name is not.
    if (!(error instanceof BelayError) || error.code !== "BELAY_DECISION_INVALID") throw error;
    return error.message;
  }
}

async function advanceInTime(
  harness: Harness,
  run: RunKey,
  config: LangGraphRunnableConfig,
  waitMs: number,
): Promise<RunResult> {
  const options = config.signal === undefined ? {} : { signal: config.signal };
  for (let waited = 0; ; waited += LOOK_AGAIN_MS) {
    const result = await harness.advance(run, options);
    config.signal?.throwIfAborted();
    if (result.termination !== undefined || result.approvals.length > 0) return result;
    if (waited >= waitMs) {
      throw new BelayError(
        "BELAY_RUN_BUSY",
        `The run ${run.runId} is still ${result.status} after ${waitMs} ms. Nothing is lost; run the graph again later.`,
      );
    }
    await sleep(LOOK_AGAIN_MS);
  }
}
