import type { CompactionPlan, WrittenSummaries } from "../context/index.ts";
import type { Reservation, RunEvent } from "../core/index.ts";
import type { ModelRequest } from "../model/index.ts";
import type { EngineContext } from "./context.ts";
import type { Session } from "./session.ts";

export interface PlannedCompaction {
  readonly request: ModelRequest;
  readonly tokensBefore: number;
  readonly plans: readonly CompactionPlan[];
}

/** The older results that a prompt of this size has to give up, or `undefined`. */
export function planCompaction(
  context: EngineContext,
  { state }: Session,
  request: ModelRequest,
  tokensBefore: number,
): PlannedCompaction | undefined {
  const { messages, summaries } = state;
  const plans =
    context.agent.compaction?.plan({ messages, shown: request.messages, summaries, tokens: tokensBefore }) ?? [];
  return plans.length === 0 ? undefined : { request, tokensBefore, plans };
}

/**
 * Reserves what a model that writes summaries may use, in the run's limits and in the shared budgets; `false` when it
 * does not fit, and then the plan's own summaries do.
 */
export function reserveCompaction(context: EngineContext, session: Session, { plans }: PlannedCompaction): boolean {
  const { core, highestCostNanoUsd, reserveBudgets } = context.kit;
  const { compaction } = context.agent;
  const wanted = compaction?.reserve?.(plans);
  if (compaction?.write === undefined || wanted === undefined) return false;
  const { modelId, inputTokens, outputTokens } = wanted;
  const cost = highestCostNanoUsd(context.prices, modelId, wanted);
  const reserved: Reservation = { inputTokens, outputTokens, ...(cost === undefined ? {} : { costNanoUsd: cost }) };
  if (core.limitBeforeModelCall(session.state, context.clock.now(), reserved) !== undefined) return false;
  reserveBudgets(context, session, cost);
  return session.stage({ type: "context.summarising", reserved });
}

/** Has the strategy write its summaries and says what to record. */
export async function writeSummaries(
  context: EngineContext,
  session: Session,
  planned: PlannedCompaction,
  signal: AbortSignal,
): Promise<readonly RunEvent[]> {
  // Taken back by a lost race or a shared budget without room: the plan's own summaries cost nothing.
  if (session.state.openRequest === undefined) return [compacted(context, session, planned)];
  const written = await context.agent.compaction?.write?.(planned.plans, {
    signal,
    timeoutMs: context.modelTimeoutMs,
    prices: context.prices,
  });
  const event = compacted(context, session, planned, written);
  return [event, ...context.kit.settleBudgets(session, written?.costNanoUsd)];
}

/** The record of a compaction, with the size of the prompt that it leaves. */
export function compacted(
  context: EngineContext,
  session: Session,
  { request, tokensBefore, plans }: PlannedCompaction,
  written?: WrittenSummaries,
): RunEvent {
  const { estimatePromptTokens, renderMessage } = context.kit;
  const summaries = written?.summaries ?? plans.map(({ callId, summary }) => ({ callId, text: summary }));
  const merged: Record<string, string> = { ...session.state.summaries };
  for (const { callId, text } of summaries) merged[callId] = text;
  const messages = session.state.messages.map((message) =>
    renderMessage(message, context.render, message.role === "tool" ? merged[message.callId] : undefined),
  );
  const tokensAfter = estimatePromptTokens({ ...request, messages });
  const { usage, costNanoUsd } = written ?? {};
  return {
    type: "context.compacted",
    tokensBefore,
    tokensAfter,
    summaries,
    ...(usage === undefined ? {} : { usage, ...(costNanoUsd === undefined ? {} : { costNanoUsd }) }),
  };
}
