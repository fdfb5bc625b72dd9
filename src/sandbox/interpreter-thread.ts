import { Worker } from "node:worker_threads";
import { BelayError } from "../errors.ts";
import type { Job, Report, ThreadData } from "./interpreter.ts";
import { failure, type ProgramOutcome } from "./outcome.ts";

/** A thread that holds one interpreter. */
export interface InterpreterThread {
  /** Runs one program; no other may run. Never rejects. After it, look at `isUsable`. */
  run(job: Job, signal: AbortSignal | undefined): Promise<ProgramOutcome>;
  readonly isUsable: boolean;
  stop(): Promise<void>;
}

/** Time that the interpreter has to notice its own limit before the thread is ended from outside. */
const GRACE_MS = 250;
const START_TIMEOUT_MS = 30_000;

/**
 * Starts the thread. Loops inside the interpreter's built-ins (a search through an array that claims to have 2^53 items)
 * never ask its interrupt handler, so only a thread that can be ended from outside keeps the host alive.
 *
 * Throws `BELAY_PEER_MISSING` without the package `quickjs-emscripten`, `BELAY_SANDBOX_FAILED` when it does not start.
 */
export async function startThread(data: ThreadData): Promise<InterpreterThread> {
  const extension = import.meta.url.endsWith(".ts") ? "ts" : "js";
  const worker = new Worker(new URL(`./interpreter.${extension}`, import.meta.url), {
    name: "belay-sandbox",
    workerData: data,
    // Nothing of the host's environment, arguments or loaders is of any use in there.
    env: {},
    argv: [],
    execArgv: [],
    // The interpreter prints when it breaks. Nobody reads it: a reader would keep the process alive.
    stdout: true,
    stderr: true,
    resourceLimits: { maxOldGenerationSizeMb: 64, maxYoungGenerationSizeMb: 16 },
  });
  const first = await nextReport(worker, START_TIMEOUT_MS, undefined);
  if (first.kind !== "ready") {
    await worker.terminate();
    throw first.kind === "missing"
      ? new BelayError(
          "BELAY_PEER_MISSING",
          "The sandbox needs the package quickjs-emscripten. Run: npm install quickjs-emscripten",
        )
      : new BelayError("BELAY_SANDBOX_FAILED", "The interpreter's thread of the sandbox did not start. Try again.");
  }
  worker.unref();
  return threadOf(worker);
}

function threadOf(worker: Worker): InterpreterThread {
  let isUsable = true;
  worker.on("error", () => {
    isUsable = false;
  });
  worker.on("exit", () => {
    isUsable = false;
  });
  const end = async (): Promise<void> => {
    isUsable = false;
    await worker.terminate();
  };
  return {
    get isUsable() {
      return isUsable;
    },
    stop: end,
    run: async (job, signal) => {
      worker.ref();
      const reported = nextReport(worker, job.limits.timeoutMs + GRACE_MS, signal);
      worker.postMessage(job);
      const report = await reported;
      worker.unref();
      if (report.kind !== "done" || report.isSpoiled) await end();
      switch (report.kind) {
        case "done":
          return report.outcome;
        case "timeout":
          return failure("time_limit", `The program ran for more than ${job.limits.timeoutMs} ms.`);
        case "aborted":
          return failure("aborted", "The evaluation was aborted.");
        default:
          return failure("interpreter_failed", "The interpreter ended while it ran the program.");
      }
    },
  };
}

type Next = Report | { readonly kind: "exit" | "timeout" | "aborted" };

function nextReport(worker: Worker, timeoutMs: number, signal: AbortSignal | undefined): Promise<Next> {
  return new Promise((resolve) => {
    const settle = (next: Next): void => {
      clearTimeout(timer);
      worker.off("message", onMessage).off("error", onExit).off("exit", onExit);
      signal?.removeEventListener("abort", onAbort);
      resolve(next);
    };
    const onMessage = (report: Report): void => settle(report);
    const onExit = (): void => settle({ kind: "exit" });
    const onAbort = (): void => settle({ kind: "aborted" });
    // A host that was busy itself sees the timer before a report that is there already.
    const timer = setTimeout(() => setImmediate(() => settle({ kind: "timeout" })), timeoutMs);
    worker.on("message", onMessage).on("error", onExit).on("exit", onExit);
    signal?.addEventListener("abort", onAbort);
    if (signal?.aborted) onAbort();
  });
}
