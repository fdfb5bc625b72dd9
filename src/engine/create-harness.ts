import { fold, type Principal } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { createActiveRuns } from "./active-runs.ts";
import { buildContext } from "./build-context.ts";
import type { CancelOutcome } from "./cancel.ts";
import type { EngineContext } from "./context.ts";
import type { Controls } from "./controls.ts";
import type { Harness, HarnessOptions } from "./harness.ts";
import { createRunStreams } from "./run-handle.ts";
import { loadStartParts } from "./start.ts";
import type { Waker } from "./waker.ts";

/**
 * Puts an agent, a model and a store together.
 *
 * Throws a BelayError at once for a tool without a contract, a rule that names an unknown tool, a limit that is no
 * number, or an agent whose tools need what it does not give.
 */
export function createHarness(options: HarnessOptions): Harness {
  return assembleHarness(options, (controls) => controls);
}

/** `createHarness` with the table of controls adjusted; production passes it through whole. */
export function assembleHarness(options: HarnessOptions, adjust: (controls: Controls) => Controls): Harness {
  let waker: Waker | undefined = options.waker;
  const streams = createRunStreams();
  const context: EngineContext = buildContext(options, adjust, {
    waker: () => waker,
    publish: streams.publish,
    follow: async (run) => {
      await active.advance(run);
    },
  });
  const active = createActiveRuns(context);

  const cancel = async (run: RunKey, by: Principal, note?: string): Promise<CancelOutcome> =>
    (await import("./people.ts")).cancelRun(context, active, run, by, note);

  return {
    agent: context.agent,
    store: context.store,
    run: (input, startOptions = {}) => streams.run(context, active, cancel, input, startOptions),
    async start(input, startOptions = {}) {
      const run = await (await loadStartParts()).startRun(context, input, startOptions);
      await waker?.wake({ run, why: "start", key: `${run.tenant}/${run.runId}:start` });
      return run;
    },
    advance: active.advance,
    // What many programs never need, or only when something went wrong, is loaded then.
    message: async (conversationId, text, messageOptions = {}) =>
      (await import("./people.ts")).sendMessage(context, conversationId, text, messageOptions),
    decide: async (request) => (await import("./people.ts")).decideApproval(context, request),
    reconcile: async (request) => (await import("./people.ts")).reconcileCall(context, request),
    lookUp: async (run, callId, { signal = new AbortController().signal } = {}) =>
      (await import("./people.ts")).lookUpOutcome(context, run, callId, signal),
    cancel,
    state: async (run) => fold(await context.store.read(run)),
    entries: (run) => context.store.read(run),
    recover: async (recoverOptions = {}) =>
      (await import("./recover-all.ts")).recoverAll(context, active, recoverOptions),
    // Loaded only by a worker, so that a program that drives its runs itself does not carry it.
    async work(workOptions = {}) {
      waker ??= (await import("./sweeping-waker.ts")).createSweepingWaker(context);
      return (await import("./work.ts")).serveWakes(context, active, waker, workOptions);
    },
  };
}
