import { EVENT_SCHEMA, type MemoryTurn, type Principal, type RunEvent } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey } from "../journal/index.ts";
import { costNanoUsd, type RequestedCall } from "../model/index.ts";
import { printable } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";
import { checkConversation, memoryOf } from "./conversation.ts";
import type { StartOptions } from "./harness.ts";
import { prepareCalls } from "./prepare.ts";

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
export function checkStart(context: EngineContext, options: StartOptions): void {
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
  checkConversation(earlier, run.runId, options.principal ?? ANONYMOUS);
  const memory = memoryOf(context, earlier);
  const event = startedEvent(context, { ...options, tenant: run.tenant, conversationId }, input, memory);
  const events = [event, ...(options.calls === undefined ? [] : await givenCalls(context, options, options.calls))];
  const entries = events.map((each) => ({ at: now, event: each }));
  const result = await context.store.commit({ run, head: 0, entries });
  if (result.status === "conflict") {
    await checkSameStart(context, run, event, options.conversationId);
  } else if (result.status === "committed") {
    context.publish(
      run,
      entries.map((entry, index) => ({ ...entry, seq: index + 1, schema: EVENT_SCHEMA })),
    );
  }
  return run;
}

/** Starting a run again is asking for the run that exists, and only whoever started it may. */
async function checkSameStart(
  context: EngineContext,
  run: RunKey,
  event: Extract<RunEvent, { type: "run.started" }>,
  conversationId: string | undefined,
): Promise<void> {
  const first = (await context.store.read(run))[0]?.event;
  const isSame =
    first?.type === "run.started" &&
    first.input === event.input &&
    first.agent.name === event.agent.name &&
    first.principal.kind === event.principal.kind &&
    first.principal.id === event.principal.id &&
    (conversationId === undefined || first.conversationId === conversationId);
  if (isSame) return;
  throw new BelayError("BELAY_RUN_EXISTS", `run ${run.runId} exists and is another one; choose another run id`);
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

/** The first event of a run. */
export function startedEvent(
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
