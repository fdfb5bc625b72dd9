import { type MemoryTurn, type Principal, type RunEvent, terminationCode } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { EVENT_SCHEMA, type RunKey, type RunRow } from "../journal/index.ts";
import { costNanoUsd, type RequestedCall } from "../model/index.ts";
import { printable } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";
import type { StartOptions } from "./harness.ts";
import { prepareCalls } from "./prepare.ts";
import type { Session } from "./session.ts";

const INPUT_CHARACTERS_MAX_DEFAULT = 4000;
/** Whoever starts a run without saying who they are; owns nothing and can decide nothing. */
export const ANONYMOUS: Principal = { kind: "system", id: "anonymous" };

/**
 * Refuses input that no run may start with.
 *
 * Throws BELAY_INPUT_EMPTY, BELAY_INPUT_TOO_LONG, BELAY_INPUT_INVALID.
 */
export function checkInput(context: EngineContext, input: string): void {
  const max = context.agent.inputCharactersMax ?? INPUT_CHARACTERS_MAX_DEFAULT;
  if (typeof input !== "string" || input.trim() === "") {
    throw new BelayError("BELAY_INPUT_EMPTY", "the message is empty; write what the agent should do");
  }
  if (input.length > max) {
    throw new BelayError(
      "BELAY_INPUT_TOO_LONG",
      `the message has ${input.length} characters, the limit is ${max}; shorten it`,
    );
  }
  if (!input.isWellFormed()) {
    throw new BelayError("BELAY_INPUT_INVALID", "the message holds half of a surrogate pair; send well-formed Unicode");
  }
}

/** Refuses options that name something unknown, and a cost limit without a price. Throws BELAY_PRICE_UNKNOWN, BELAY_TOOL_UNKNOWN, BELAY_ID_INVALID. */
function checkStart(context: EngineContext, options: StartOptions): void {
  const { limits } = context.controls;
  const needsPrice = limits.costNanoUsdMax !== undefined || Object.keys(context.budgets).length > 0;
  if (needsPrice && costNanoUsd(context.prices, context.model.id, { inputTokens: 1, outputTokens: 1 }) === undefined) {
    throw new BelayError(
      "BELAY_PRICE_UNKNOWN",
      `the agent ${context.agent.name} has a cost limit and the model ${context.model.id} has no price; add it to 'prices' or remove the limit`,
    );
  }
  for (const name of options.offeredTools ?? []) {
    if (context.contracts.has(name)) continue;
    const known = [...context.contracts.keys()].join(", ");
    throw new BelayError("BELAY_TOOL_UNKNOWN", `offeredTools names '${printable(name, 64)}'; the agent has ${known}`);
  }
  for (const [what, id] of Object.entries({
    tenant: options.tenant,
    runId: options.runId,
    conversationId: options.conversationId,
  })) {
    if (id === undefined || /^[\w.:@-]{1,128}$/.test(id)) continue;
    throw new BelayError(
      "BELAY_ID_INVALID",
      `${what} '${printable(id, 64)}' must be 1 to 128 of A-Z a-z 0-9 _ . : @ -`,
    );
  }
}

/** Writes the first event of a run; starting the same run twice leaves the first. */
export async function startRun(context: EngineContext, input: string, options: StartOptions): Promise<RunKey> {
  checkInput(context, input);
  checkStart(context, options);
  const now = context.clock.now();
  const run: RunKey = { tenant: options.tenant ?? "default", runId: options.runId ?? context.newId("run") };
  const conversationId = options.conversationId ?? context.newId("cnv");
  const earlier = await context.store.conversation(run.tenant, conversationId);
  checkConversation(earlier, run, options.principal ?? ANONYMOUS);
  const memory = memoryOf(context, earlier);
  const event = startedEvent(context, { ...options, tenant: run.tenant, conversationId }, input, memory);
  const events = [event, ...(options.calls === undefined ? [] : await givenCalls(context, options, options.calls))];
  const entries = events.map((each) => ({ at: now, event: each }));
  const result = await context.store.commit({ run, head: 0, entries });
  if (result.status === "conflict") {
    const [first] = await context.store.read(run);
    if (first?.event.type !== "run.started" || first.event.input !== input) {
      throw new BelayError("BELAY_RUN_EXISTS", `run ${run.runId} exists with another message; choose another run id`);
    }
  } else if (result.status === "committed") {
    context.publish(
      run,
      entries.map((entry, index) => ({ ...entry, seq: index + 1, schema: EVENT_SCHEMA })),
    );
  }
  return run;
}

/** The one turn of a run that asks no model, prepared as a model's reply would be. */
async function givenCalls(
  context: EngineContext,
  { offeredTools }: StartOptions,
  requested: readonly RequestedCall[],
): Promise<readonly RunEvent[]> {
  const calls = await prepareCalls(context, 1, offeredTools, requested);
  const none = { inputTokens: 0, outputTokens: 0 };
  return [
    { type: "model.requested", reserved: { ...none, costNanoUsd: 0 } },
    { type: "model.replied", output: { kind: "calls", text: "", calls }, usage: none, costNanoUsd: 0 },
  ];
}

function startedEvent(
  context: EngineContext,
  options: StartOptions & { readonly tenant: string; readonly conversationId: string },
  input: string,
  memory: readonly MemoryTurn[],
): Extract<RunEvent, { type: "run.started" }> {
  const { approval } = context.agent;
  return {
    type: "run.started",
    agent: context.stamp,
    tenant: options.tenant,
    principal: options.principal ?? ANONYMOUS,
    conversationId: options.conversationId,
    input,
    limits: context.controls.limits,
    ...(options.offeredTools === undefined ? {} : { offeredTools: options.offeredTools }),
    ...(memory.length === 0 ? {} : { memory }),
    ...(options.calls === undefined ? {} : { endsAfterTurn: true }),
    onReject: approval?.onReject ?? "tell_model",
    onExpiry: approval?.onExpiry ?? "tell_model",
    onWorldChanged: approval?.onWorldChanged ?? "tell_model",
  };
}

/** A conversation is one principal's, and one run of it at a time. */
export function checkConversation(
  earlier: readonly RunRow[],
  run: RunKey,
  principal: Principal,
  busy: "must_be_idle" | "may_be_busy" = "must_be_idle",
): void {
  const last = earlier.at(-1);
  if (last === undefined || last.runId === run.runId) return;
  if (last.principal.kind !== principal.kind || last.principal.id !== principal.id) {
    throw new BelayError(
      "BELAY_CONVERSATION_FOREIGN",
      `conversation ${last.conversationId} is not ${principal.kind} ${printable(principal.id, 64)}'s; start a new one`,
    );
  }
  if (last.termination === undefined && busy === "must_be_idle") {
    throw new BelayError(
      "BELAY_CONVERSATION_BUSY",
      `run ${last.runId} of conversation ${last.conversationId} has not ended; send a message, which waits behind it`,
    );
  }
}

/** The last turns of a conversation: words only, never facts. */
function memoryOf(context: EngineContext, earlier: readonly RunRow[]): readonly MemoryTurn[] {
  const turnsMax = context.agent.memoryTurnsMax ?? 0;
  if (turnsMax === 0) return [];
  return earlier
    .filter((row) => row.termination !== undefined)
    .slice(-turnsMax)
    .map((row) => ({ user: row.input, assistant: row.answer ?? `(ended without an answer: ${row.termination})` }));
}

/** Starts the run of the first queued message and hands it the rest of the queue; says so in the ended run. */
export async function startNextRun(context: EngineContext, session: Session): Promise<readonly RunEvent[]> {
  const { state, run } = session;
  const [first, ...rest] = state.queued;
  if (first === undefined || state.termination === undefined) return [];
  const next: RunKey = { tenant: run.tenant, runId: first.nextRunId };
  const at = Math.max(context.clock.now(), state.lastAt);
  const turnsMax = context.agent.memoryTurnsMax ?? 0;
  const last: MemoryTurn = {
    user: state.input,
    assistant: state.answer ?? `(ended without an answer: ${terminationCode(state.termination)})`,
  };
  const memory = turnsMax === 0 ? [] : [...state.memory, last].slice(-turnsMax);
  const options = { tenant: run.tenant, conversationId: state.conversationId, principal: first.principal };
  const entries = [
    { at, event: startedEvent(context, options, first.text, memory) },
    ...rest.map((message) => ({ at, event: { type: "message.queued", ...message } as const })),
  ];
  // A conflict means that somebody started it already, which is as good.
  await context.store.commit({ run: next, head: 0, entries });
  await context.waker()?.wake({ run: next, why: "start", key: `${next.tenant}:${next.runId}:start` });
  return [{ type: "run.followed", nextRunId: next.runId }];
}
