import { systemPrompt } from "../context/index.ts";
import {
  checkJsonValue,
  type JsonValue,
  limitBeforeModelCall,
  type ModelOutput,
  type ProviderData,
  type Reservation,
  type RunEvent,
} from "../core/index.ts";
import {
  costNanoUsd,
  estimateRequestTokens,
  highestCostNanoUsd,
  type ModelReply,
  type ModelRequest,
  readUsage,
} from "../model/index.ts";
import { bounded } from "./bounded.ts";
import type { PlannedCompaction } from "./compact-step.ts";
import type { EngineContext } from "./context.ts";
import { reserveBudgets, settleBudgets } from "./cost-budgets.ts";
import { partFor, parts } from "./parts.ts";
import { prepareCalls } from "./prepare.ts";
import type { Session } from "./session.ts";

/** More calls in one reply than this are not even recorded one by one. */
const CALLS_READ_MAX = 256;
/** Six bytes is the longest that JSON writes for one UTF-16 unit, and an event holds 256 KiB. */
const FINAL_CHARACTERS_MAX = 40_000;
/** Words beside calls, in characters. */
const TEXT_BESIDE_CALLS_MAX = 4000;
/** Longest list of calls of one reply, as JSON, together with what its provider wants back. */
const CALLS_BYTES_MAX = 180 * 1024;

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
  const steps = context.agent.compaction === undefined ? undefined : partFor(parts.compaction);
  const planned = steps?.planCompaction(context, session, prompt.request, prompt.tokens);
  if (steps !== undefined && planned !== undefined) {
    if (steps.reserveCompaction(context, session, planned)) return planned;
    session.stage(steps.compacted(context, session, planned));
    prompt = buildRequest(context, session);
  }
  const { state } = session;
  const { request, tokens: inputTokens } = prompt;
  const tokens = { inputTokens, outputTokens: state.limits.replyTokensMax };
  const cost = highestCostNanoUsd(context.prices, context.model.id, tokens);
  const reserved: Reservation = { ...tokens, ...(cost === undefined ? {} : { costNanoUsd: cost }) };
  const hit = limitBeforeModelCall(state, context.clock.now(), reserved);
  if (hit !== undefined) {
    session.stage({ type: "limit.reached", ...hit });
    return undefined;
  }
  reserveBudgets(context, session, cost);
  session.stage({ type: "model.requested", model: context.model.id, reserved });
  return { request, reserved, step: session.state.step };
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
  const startedAt = Math.max(context.clock.now(), state.segmentLastAt ?? 0);
  const wallClockLeftMs =
    state.limits.wallClockMs === undefined
      ? Number.POSITIVE_INFINITY
      : Math.max(1, state.limits.wallClockMs - state.workedMs + 1);
  const timeoutMs = Math.min(context.modelTimeoutMs, wallClockLeftMs);
  // What the client gives back is read inside the bound too: junk is a failed call, never an escape.
  const read = async (signal: AbortSignal): Promise<readonly RunEvent[]> =>
    await replied(context, session, open, await context.model.generate(open.request, { ...options, signal }));
  const ended = await bounded(read, {
    timeoutMs,
    signal: options.signal,
  });
  switch (ended.status) {
    case "done":
      return ended.value;
    case "timeout": {
      // A timer may fire a moment early by the clock that the limit is read from.
      const late = timeoutMs === wallClockLeftMs ? startedAt + timeoutMs : 0;
      return (await import("./trouble.ts")).modelTimedOut(context, session, open.step, timeoutMs, late);
    }
    case "aborted":
      // Whoever aborted says why. The reservation stays open and is charged at the end or by the next attempt.
      return [];
    case "failed":
      // Needed only when something went wrong, and loaded then.
      return (await import("./trouble.ts")).modelFailed(context, session, open.step, ended.error);
  }
}

async function replied(
  context: EngineContext,
  session: Session,
  open: OpenModelCall,
  reply: ModelReply,
): Promise<readonly RunEvent[]> {
  const usage = readUsage(reply.usage, open.reserved);
  // What nobody counted is charged as if the dearest had happened.
  const costOf = usage.estimated === true ? highestCostNanoUsd : costNanoUsd;
  const cost = costOf(context.prices, context.model.id, usage);
  const output = await readOutput(context, session, open, reply);
  return [
    { type: "model.replied", step: open.step, output, usage, ...(cost === undefined ? {} : { costNanoUsd: cost }) },
    ...settleBudgets(session, cost),
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
      const kept = providerDataOf(context, reply.providerData);
      const bytes = Buffer.byteLength(JSON.stringify([calls, kept]));
      if (bytes > CALLS_BYTES_MAX)
        return unreadable("The calls of one reply are too long. Ask for fewer, or shorter ones, and think less.");
      const text = boundedText(reply.text).slice(0, TEXT_BESIDE_CALLS_MAX).toWellFormed();
      return { kind: "calls", text, calls, ...kept };
    }
    case "unreadable":
      return unreadable(reply.problem);
    default:
      return unreadable(NOT_A_REPLY);
  }
}

/** Data that JSON cannot hold go back to nobody; the provider then says whether it can do without. */
function providerDataOf(
  { model }: EngineContext,
  data: JsonValue | undefined,
): { readonly providerData?: ProviderData } {
  const checked = data === undefined ? undefined : checkJsonValue(data);
  return checked?.ok === true ? { providerData: { model: model.id, data: checked.value } } : {};
}

function unreadable(problem: string): ModelOutput {
  return { kind: "unreadable", problem: boundedText(problem).slice(0, 1000) };
}

/** Text that the journal can hold: well-formed and bounded. */
function boundedText(text: string): string {
  const whole = typeof text === "string" ? text.toWellFormed() : "";
  return whole.length <= FINAL_CHARACTERS_MAX ? whole : `${whole.slice(0, FINAL_CHARACTERS_MAX).toWellFormed()}…`;
}
