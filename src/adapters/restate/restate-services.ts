import {
  type ObjectContext,
  type ObjectOptions,
  object,
  type ServiceDefinition,
  type VirtualObjectDefinition,
} from "@restatedev/restate-sdk";
import type { Wake } from "../../engine/index.ts";
import type { RestateSettings } from "./restate-options.ts";

/** What is sent to Restate: whom to wake, and no state. */
export interface WakeMessage {
  readonly tenant: string;
  readonly runId: string;
  readonly why: Wake["why"];
  readonly key: string;
  readonly notBefore?: number;
}

/** Delivers one wake; a throw means that it comes again. */
export type Deliver = (wake: Wake, attemptEnded: AbortSignal) => Promise<void>;

/** Waits for a free place among the runs that are advanced at once; the result gives it back. */
export type TakePlace = (attemptEnded: AbortSignal) => Promise<() => void>;

export interface ServiceNames {
  /** One object for each key of a wake. */
  readonly wake: string;
  /** One object for each run. */
  readonly run: string;
}

type Service = ServiceDefinition<string, unknown> | VirtualObjectDefinition<string, unknown>;

// Never given up on: the server's own default pauses an invocation after 70 attempts.
const ATTEMPTS_MAX = 2_147_483_647;
// A model may think for long without a word to Restate, which must not take the run for stalled.
const DAY_MS = 86_400_000;
const FIRST_PAUSE_MS = 50;

export function serviceNames({ name }: RestateSettings): ServiceNames {
  return { wake: `${name}Wake`, run: `${name}Run` };
}

/**
 * Two objects. `…Wake`, one for each key, drops a wake whose like still waits. `…Run`, one for each run, delivers; an
 * object of Restate does one thing at a time, which makes delivery serial for each run on all machines.
 *
 * A delivery frees its key before it looks at the run. So a wake that was dropped before was sent before that look,
 * and one that is sent after it is not dropped.
 */
export function createServices(settings: RestateSettings, takePlace: TakePlace, deliver: Deliver): Service[] {
  const names = serviceNames(settings);
  const options = objectOptions(settings);
  const wakes = object({
    name: names.wake,
    options,
    handlers: {
      fire: async (context: ObjectContext, message: WakeMessage): Promise<void> => {
        if ((await context.get<boolean>("waits")) === true) return;
        context.set("waits", true);
        context.genericSend({
          service: names.run,
          method: "deliver",
          key: runName(message),
          parameter: new TextEncoder().encode(JSON.stringify({ ...message, object: context.key })),
        });
      },
      free: async (context: ObjectContext): Promise<void> => {
        context.clear("waits");
      },
    },
  });
  const runs = object({
    name: names.run,
    options,
    handlers: {
      deliver: async (context: ObjectContext, message: WakeMessage & { readonly object: string }): Promise<void> => {
        const attemptEnded = context.request().attemptCompletedSignal;
        const leave = await takePlace(attemptEnded);
        try {
          await context.objectClient(wakes, message.object).free();
          await deliver(wakeOf(message), attemptEnded);
        } finally {
          leave();
        }
      },
    },
  });
  return [wakes, runs];
}

/** What Restate calls the run; also what a person sees in its console. */
function runName({ tenant, runId }: WakeMessage): string {
  return JSON.stringify([tenant, runId]);
}

function wakeOf({ tenant, runId, why, key, notBefore }: WakeMessage): Wake {
  return { run: { tenant, runId }, why, key, ...(notBefore === undefined ? {} : { notBefore }) };
}

function objectOptions({ redeliveryMs }: RestateSettings): ObjectOptions {
  return {
    // Nothing of a delivered wake is kept, so that its key is free and the disk does not fill.
    idempotencyRetention: 0,
    journalRetention: 0,
    inactivityTimeout: DAY_MS,
    abortTimeout: DAY_MS,
    retryPolicy: {
      maxAttempts: ATTEMPTS_MAX,
      initialInterval: Math.min(FIRST_PAUSE_MS, redeliveryMs),
      exponentiationFactor: 2,
      maxInterval: redeliveryMs,
    },
  };
}
