import type { MemoryTurn, Principal, RunEvent } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import type { RunKey } from "../journal/index.ts";
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

/** Loaded with the first run and kept, because asking the loader each time costs more than the rest of a start. */
let queue: typeof import("./check-queue.ts") | undefined;
/** Kept like it, once a start has needed more than to begin and drive a run that nobody named. */
let parts: typeof import("./start-parts.ts") | undefined;

export async function loadStartParts(): Promise<typeof import("./start-parts.ts")> {
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
  /** Whether a run of this name was there when it was looked for. */
  readonly isKnown: boolean;
}

export type Started = Extract<RunEvent, { type: "run.started" }>;

/** Makes the first events of a run, or says why it may not start. `runId` names a run that the caller did not name. */
export async function prepareStart(
  context: EngineContext,
  input: string,
  options: StartOptions,
  runId: string = options.runId ?? context.newId("run"),
): Promise<PreparedStart> {
  checkInput(context, input);
  if (needsCheck(context, options)) (await loadStartParts()).checkStart(context, options);
  queue ??= await import("./check-queue.ts");
  const isKnown = await queue.checkQueue(context, options.tenant ?? "default", options.runId);
  const run: RunKey = { tenant: options.tenant ?? "default", runId };
  const conversationId = options.conversationId ?? context.newId("cnv");
  // Nothing was said yet in a conversation that has its name from here.
  const isNew = options.conversationId === undefined;
  const earlier = isNew ? [] : await context.store.conversation(run.tenant, conversationId);
  const { principal = ANONYMOUS } = options;
  const memory =
    earlier.length === 0 ? [] : await (await loadStartParts()).goOn(context, earlier, run.runId, principal);
  const event = startedEvent(context, { ...options, tenant: run.tenant, conversationId }, input, memory);
  const calls = options.calls === undefined ? [] : await (await loadStartParts()).givenCalls(context, options);
  return { run, events: [event, ...calls], conversationId: options.conversationId, isKnown };
}

/** Whether there is anything to look at in the options: many starts name nothing and have no limit on cost. */
function needsCheck({ budgets, controls }: EngineContext, options: StartOptions): boolean {
  const { tenant, runId, conversationId, offeredTools } = options;
  const isNamed = [tenant, runId, conversationId, offeredTools].some((given) => given !== undefined);
  return isNamed || controls.limits.costNanoUsdMax !== undefined || Object.keys(budgets).length > 0;
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
