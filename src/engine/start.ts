import { EVENT_SCHEMA, type MemoryTurn, type Principal, type RunEvent } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey } from "../journal/index.ts";
import { costNanoUsd } from "../model/index.ts";
import { printable } from "../tool/index.ts";
import type { EngineContext } from "./context.ts";
import type { StartOptions } from "./harness.ts";

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

/** Loaded with the first run and kept, because asking the loader each time costs more than the rest of a start. */
let queue: typeof import("./check-queue.ts") | undefined;
/** Kept like it, once a start has needed more than to begin a conversation. */
let parts: typeof import("./start-parts.ts") | undefined;

async function loadParts(): Promise<typeof import("./start-parts.ts")> {
  parts ??= await import("./start-parts.ts");
  return parts;
}

/** A run that was checked and is not written yet. */
export interface PreparedStart {
  readonly run: RunKey;
  /** Its `run.started`, and what its given calls make of it. */
  readonly events: readonly [Started, ...RunEvent[]];
  /** The conversation that was asked for; without one any is meant. */
  readonly conversationId: string | undefined;
}

export type Started = Extract<RunEvent, { type: "run.started" }>;

/** Writes the first event of a run; starting the same run twice leaves the first. */
export async function startRun(context: EngineContext, input: string, options: StartOptions): Promise<RunKey> {
  const start = await prepareStart(context, input, options);
  await writeStart(context, start);
  return start.run;
}

/** Makes the first events of a run, or says why it may not start. `runId` names a run that the caller did not name. */
export async function prepareStart(
  context: EngineContext,
  input: string,
  options: StartOptions,
  runId: string = options.runId ?? context.newId("run"),
): Promise<PreparedStart> {
  checkInput(context, input);
  checkStart(context, options);
  queue ??= await import("./check-queue.ts");
  await queue.checkQueue(context, options.tenant ?? "default", options.runId);
  const run: RunKey = { tenant: options.tenant ?? "default", runId };
  const conversationId = options.conversationId ?? context.newId("cnv");
  // Nothing was said yet in a conversation that has its name from here.
  const isNew = options.conversationId === undefined;
  const earlier = isNew ? [] : await context.store.conversation(run.tenant, conversationId);
  const { principal = ANONYMOUS } = options;
  const memory = earlier.length === 0 ? [] : await (await loadParts()).goOn(context, earlier, run.runId, principal);
  const event = startedEvent(context, { ...options, tenant: run.tenant, conversationId }, input, memory);
  const calls = options.calls === undefined ? [] : await (await loadParts()).givenCalls(context, options);
  return { run, events: [event, ...calls], conversationId: options.conversationId };
}

/** Writes what was prepared. Throws BELAY_RUN_EXISTS when the name belongs to another run. */
export async function writeStart(context: EngineContext, start: PreparedStart): Promise<void> {
  const { run, events, conversationId } = start;
  const at = context.clock.now();
  const entries = events.map((event) => ({ at, event }));
  const result = await context.store.commit({ run, head: 0, entries });
  if (result.status === "conflict") {
    await (await loadParts()).checkSameStart(context, run, events[0], conversationId);
  } else if (result.status === "committed") {
    context.publish(
      run,
      entries.map((entry, index) => ({ ...entry, seq: index + 1, schema: EVENT_SCHEMA })),
    );
  }
}

/** The first event of a run. */
export function startedEvent(
  context: EngineContext,
  options: StartOptions & { readonly tenant: string; readonly conversationId: string },
  input: string,
  memory: readonly MemoryTurn[],
): Started {
  const { approval } = context.agent;
  return {
    type: "run.started",
    agent: context.stamp,
    ...(options.calls === undefined ? { model: context.model.id } : {}),
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
