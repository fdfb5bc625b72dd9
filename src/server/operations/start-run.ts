import type { Principal } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import { newId } from "../../ids.ts";
import type { EventOf, RunKey } from "../../journal/index.ts";
import type { ServedApp, SignedIn } from "../deps.ts";
import { HttpProblem } from "../http/problem.ts";
import { markedRunId } from "../people/starter-mark.ts";
import type { OperationContext } from "./context.ts";
import { idsOfKey } from "./idempotency.ts";
import type { StartedRun, StartRunRequest } from "./operation.ts";
import { checkMay, principalOf } from "./permission.ts";

interface Wish extends StartRunRequest {
  readonly principal: Principal;
}

/**
 * Starts a run, or finds the one that the same key started.
 *
 * Throws `BELAY_IDEMPOTENCY_CONFLICT` when the key started another one: nothing of that run is told.
 */
export async function startRun(context: OperationContext, by: SignedIn, request: StartRunRequest): Promise<StartedRun> {
  checkMay(by, "operate");
  const app = appNamed(context, request.app);
  const principal: Principal =
    request.customer === undefined ? principalOf(by) : { kind: "customer", id: request.customer };
  const wish: Wish = { ...request, principal };
  if (request.idempotencyKey === undefined) {
    const now = context.clock.now();
    const conversationId = request.conversationId ?? newId("cnv", now);
    const run: RunKey = { tenant: by.tenant, runId: markedRunId(newId("run", now), by) };
    await begin(context, app, wish, { run, conversationId });
    return { run, conversationId, isReplay: false };
  }
  const keyed = idsOfKey(by, request.idempotencyKey, "run");
  const run: RunKey = { tenant: by.tenant, runId: markedRunId(keyed.runId, by) };
  const conversationId = request.conversationId ?? keyed.conversationId;
  const found = await replayOf(context, app, run, wish);
  if (found !== undefined) return found;
  try {
    await begin(context, app, wish, { run, conversationId });
  } catch (error) {
    if (!(error instanceof BelayError && error.code === "BELAY_RUN_EXISTS")) throw error;
  }
  // Two requests with one key may both have got here; what is stored decides.
  return { ...((await replayOf(context, app, run, wish)) ?? { run, conversationId }), isReplay: false };
}

async function begin(
  context: OperationContext,
  app: ServedApp,
  { principal, input, offeredTools, conversationId: asked }: Wish,
  { run, conversationId }: { readonly run: RunKey; readonly conversationId: string },
): Promise<void> {
  await checkMessages(context, run.tenant, asked);
  await app.harness.start(input, {
    ...run,
    principal,
    conversationId,
    ...(offeredTools === undefined ? {} : { offeredTools }),
  });
}

/** The run that a key has started. Throws `BELAY_IDEMPOTENCY_CONFLICT` when it was asked for something else. */
async function replayOf(
  context: OperationContext,
  app: ServedApp,
  run: RunKey,
  wish: Wish,
): Promise<StartedRun | undefined> {
  const event = (await context.store.read(run))[0]?.event;
  if (event?.type !== "run.started") return undefined;
  if (!isSame(event, app, wish)) throw conflict();
  return { run, conversationId: event.conversationId, isReplay: true };
}

function isSame(started: EventOf<"run.started">, app: ServedApp, wish: Wish): boolean {
  return (
    started.agent.name === app.harness.agent.name &&
    started.input === wish.input &&
    started.principal.kind === wish.principal.kind &&
    started.principal.id === wish.principal.id &&
    (wish.conversationId === undefined || wish.conversationId === started.conversationId) &&
    JSON.stringify(started.offeredTools ?? null) === JSON.stringify(wish.offeredTools ?? null)
  );
}

export function conflict(): HttpProblem {
  return new HttpProblem(
    "BELAY_IDEMPOTENCY_CONFLICT",
    "this Idempotency-Key came with another request before; use a new key for a new request",
  );
}

export async function checkMessages(
  { store, messagesMax }: OperationContext,
  tenant: string,
  conversationId: string | undefined,
): Promise<void> {
  if (conversationId === undefined) return;
  const { length } = await store.conversation(tenant, conversationId);
  if (length < messagesMax) return;
  throw new BelayError(
    "BELAY_MESSAGE_CAP",
    `the conversation has ${length} messages, the most is ${messagesMax}; start a new one`,
  );
}

function appNamed({ apps }: OperationContext, name: string): ServedApp {
  const app = apps.get(name);
  if (app === undefined) {
    throw new BelayError("BELAY_APP_UNKNOWN", `there is no such app; there are: ${[...apps.keys()].join(", ")}`);
  }
  return app;
}
