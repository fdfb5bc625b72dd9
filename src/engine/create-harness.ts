import { fold, type Principal } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import { createActiveRuns } from "./active-runs.ts";
import { decideApproval } from "./answer.ts";
import { appendEvent } from "./append.ts";
import { buildContext } from "./build-context.ts";
import type { EngineContext } from "./context.ts";
import type { Controls } from "./controls.ts";
import type { Harness, HarnessOptions } from "./harness.ts";
import { sendMessage } from "./message.ts";
import { recoverAll } from "./recover-all.ts";
import { createRunStreams } from "./run-handle.ts";
import { startRun } from "./start.ts";
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

  async function cancel(
    run: RunKey,
    by: Principal,
    note?: string,
  ): Promise<"recorded" | "already_ended" | "unknown_run"> {
    const noted = note === undefined ? {} : { note: note.toWellFormed().slice(0, 2000) };
    const appended = await appendEvent(context, run, () => ({ type: "run.cancel_requested", by, ...noted }));
    if (appended.status === "refused") return "already_ended";
    if (appended.status === "unknown_run") return "unknown_run";
    // Who drives it here is told at once; a run that nobody drives is ended here, so that its questions close.
    if (!active.interrupt(run)) await active.advance(run);
    await waker?.wake({ run, why: "message", key: `${run.tenant}/${run.runId}:cancel` });
    return "recorded";
  }

  return {
    agent: context.agent,
    store: context.store,
    run: (input, startOptions = {}) => streams.run(context, active, cancel, input, startOptions),
    async start(input, startOptions = {}) {
      const run = await startRun(context, input, startOptions);
      await waker?.wake({ run, why: "start", key: `${run.tenant}/${run.runId}:start` });
      return run;
    },
    async message(conversationId, text, messageOptions = {}) {
      const sent = await sendMessage(context, conversationId, text, messageOptions);
      const { run } = sent;
      if (sent.status === "started") await waker?.wake({ run, why: "start", key: `${run.tenant}/${run.runId}:start` });
      return sent;
    },
    advance: active.advance,
    decide: (request) => decideApproval(context, request),
    cancel,
    state: async (run) => fold(await context.store.read(run)),
    entries: (run) => context.store.read(run),
    recover: (recoverOptions = {}) => recoverAll(context, active, recoverOptions),
    async work() {
      const stop = new AbortController();
      // Loaded only by a worker, so that a program that drives its runs itself does not carry it.
      waker ??= (await import("./in-process-waker.ts")).createInProcessWaker();
      const serving = await waker.serve(async (wake) => {
        await active.advance(wake.run, { signal: stop.signal });
      });
      await recoverAll(context, active, { signal: stop.signal });
      return {
        close: async () => {
          stop.abort();
          await serving.close();
        },
      };
    },
  };
}
