import { systemPrompt } from "../context/index.ts";
import {
  limitBeforeModelCall,
  type ModelOutput,
  type Reservation,
  type RunEvent,
  wallClockLimit,
} from "../core/index.ts";
import { costNanoUsd, estimateRequestTokens, type ModelReply, type ModelRequest, readUsage } from "../model/index.ts";
import { bounded } from "./bounded.ts";
import { compacted, type PlannedCompaction, planCompaction } from "./compact-step.ts";
import type { EngineContext } from "./context.ts";
import { prepareCalls } from "./prepare.ts";
import type { Session } from "./session.ts";

/** More calls in one reply than this are not even recorded one by one. */
const CALLS_READ_MAX = 256;
const FINAL_CHARACTERS_MAX = 100_000;

export interface OpenModelCall {
  readonly request: ModelRequest;
  readonly reserved: Reservation;
  readonly step: number;
}

/**
 * Builds the request and stages its reservation, or the limit that forbids it (`undefined`). A prompt that has grown too
 * large is compacted first; a compaction that asks a model is handed back to be done before.
 */
export function openModelCall(context: EngineContext, session: Session): OpenModelCall | PlannedCompaction | undefined {
  let prompt = buildRequest(context, session);
  const planned = planCompaction(context, session, prompt.request, prompt.tokens);
  if (planned !== undefined) {
    if (context.agent.compaction?.write !== undefined) return planned;
    session.stage(compacted(context, session, planned));
    prompt = buildRequest(context, session);
  }
  const { state } = session;
  const { request, tokens: inputTokens } = prompt;
  const tokens = { inputTokens, outputTokens: state.limits.replyTokensMax };
  const cost = costNanoUsd(context.prices, context.model.id, tokens);
  const reserved: Reservation = { ...tokens, ...(cost === undefined ? {} : { costNanoUsd: cost }) };
  const hit = limitBeforeModelCall(state, context.clock.now(), reserved);
  if (hit !== undefined) {
    session.stage({ type: "limit.reached", ...hit });
    return undefined;
  }
  settleOrphans(session);
  for (const [budget, limit] of Object.entries(context.budgets)) {
    // A shared budget with no known price was refused at the start; an amount of the whole limit is the safe reading.
    const amount = cost ?? limit;
    session.stage({ type: "budget.reserved", reservationId: context.newId("rsv"), budget, amount, limit });
  }
  session.stage({ type: "model.requested", model: context.model.id, reserved });
  return { request, reserved, step: session.state.step };
}

/** What an interrupted model call reserved is charged in full before another is made. */
function settleOrphans(session: Session): void {
  for (const { reservationId, budget, amount, forCall } of session.state.openBudgets) {
    if (forCall === undefined) session.stage({ type: "budget.settled", reservationId, budget, amount });
  }
}

function buildRequest(
  context: EngineContext,
  session: Session,
): { readonly request: ModelRequest; readonly tokens: number } {
  const { agent, controls, toolSpecs } = context;
  const { state } = session;
  const { offeredTools } = state;
  const { messages, characters } = session.transcript.read(state.messages, state.summaries);
  const request: ModelRequest = {
    system: systemPrompt(agent.instructions, state.memory),
    messages,
    tools:
      offeredTools === undefined || !controls.guards.has("offered_tools")
        ? toolSpecs
        : toolSpecs.filter(({ name }) => offeredTools.includes(name)),
    replyTokensMax: state.limits.replyTokensMax,
    temperature: agent.temperature ?? 0,
  };
  return { request, tokens: estimateRequestTokens(request, characters) };
}

/** Calls the model and says what came of it. Never rejects. */
export async function callModel(
  context: EngineContext,
  session: Session,
  open: OpenModelCall,
  options: { readonly signal: AbortSignal; readonly onDelta?: (text: string) => void },
): Promise<readonly RunEvent[]> {
  const { state } = session;
  const wallClockLeftMs =
    state.limits.wallClockMs === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(1, state.limits.wallClockMs - state.workedMs + 1);
  const timeoutMs = Math.min(context.modelTimeoutMs, wallClockLeftMs);
  const ended = await bounded((signal) => context.model.generate(open.request, { ...options, signal }), {
    timeoutMs,
    signal: options.signal,
  });
  switch (ended.status) {
    case "done":
      return await replied(context, session, open, ended.value);
    case "timeout": {
      const hit = wallClockLimit(state, context.clock.now());
      return hit === undefined
        ? [{ type: "model.failed", code: "timeout", detail: `no reply within ${timeoutMs} ms` }]
        : [{ type: "limit.reached", ...hit }];
    }
    case "aborted":
      // Whoever aborted says why. The reservation stays open and is charged at the end or by the next attempt.
      return [];
    case "failed":
      context.alarm({ code: "MODEL_FAILED", run: session.run, detail: "the model client threw", cause: ended.error });
      return [{ type: "model.failed", code: "model_error", detail: "the model call failed" }];
  }
}

async function replied(
  context: EngineContext,
  session: Session,
  open: OpenModelCall,
  reply: ModelReply,
): Promise<readonly RunEvent[]> {
  const usage = readUsage(reply.usage, open.reserved);
  const cost = costNanoUsd(context.prices, context.model.id, usage);
  const output = await readOutput(context, session, open, reply);
  return [
    { type: "model.replied", output, usage, ...(cost === undefined ? {} : { costNanoUsd: cost }) },
    ...session.state.openBudgets
      .filter(({ forCall }) => forCall === undefined)
      .map(
        ({ reservationId, budget, amount }): RunEvent => ({
          type: "budget.settled",
          reservationId,
          budget,
          amount: cost ?? amount,
        }),
      ),
  ];
}

const NOT_A_REPLY = "Your reply could not be read. Reply in the agreed format.";

async function readOutput(
  context: EngineContext,
  session: Session,
  open: OpenModelCall,
  reply: ModelReply,
): Promise<ModelOutput> {
  switch (reply.kind) {
    case "final":
      return typeof reply.text === "string"
        ? { kind: "final", text: boundedText(reply.text) }
        : unreadable(NOT_A_REPLY);
    case "calls": {
      if (!Array.isArray(reply.calls)) return unreadable(NOT_A_REPLY);
      if (reply.calls.length === 0) return { kind: "final", text: boundedText(reply.text) };
      if (reply.calls.length > CALLS_READ_MAX)
        return unreadable(`Ask for at most ${CALLS_READ_MAX} calls in one reply.`);
      const calls = await prepareCalls(context, open.step, session.state.offeredTools, reply.calls);
      return { kind: "calls", text: boundedText(reply.text), calls };
    }
    case "unreadable":
      return unreadable(reply.problem);
    default:
      return unreadable(NOT_A_REPLY);
  }
}

function unreadable(problem: string): ModelOutput {
  return { kind: "unreadable", problem: boundedText(problem).slice(0, 1000) };
}

/** Text that the journal can hold: well-formed and bounded. */
function boundedText(text: string): string {
  const whole = String(text ?? "").toWellFormed();
  return whole.length <= FINAL_CHARACTERS_MAX ? whole : `${whole.slice(0, FINAL_CHARACTERS_MAX).toWellFormed()}…`;
}
