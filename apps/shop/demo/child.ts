import { type ChildProcess, fork } from "node:child_process";
import { claim } from "./claim.ts";

const ANSWER_MS_MAX = 60_000;

/** A process of its own that works on the stage's files and reports once. */
export interface Child<Report> {
  readonly pid: number;
  /** What it sent. Rejects when it ends without a report or takes too long. */
  readonly report: Promise<Report>;
  /** How it ended: the exit code, or the signal that killed it. */
  readonly ended: Promise<{ readonly code: number | null; readonly signal: NodeJS.Signals | null }>;
  /** Kills it when it is still there. */
  stop(): void;
}

/** Starts a file of this folder in a new process; its lines go where this process's lines go. */
export function startChild<Report>(file: string, args: readonly string[]): Child<Report> {
  const child = fork(new URL(file, import.meta.url), args, { stdio: ["ignore", "inherit", "inherit", "ipc"] });
  const ended: Child<Report>["ended"] = new Promise((resolve) => {
    child.once("exit", (code, signal) => resolve({ code, signal }));
  });
  const report = reportOf<Report>(child);
  // Whoever stops early must not crash on a report that nobody waits for any more.
  report.catch(() => undefined);
  return { pid: child.pid ?? 0, report, ended, stop: () => void child.kill("SIGKILL") };
}

function reportOf<Report>(child: ChildProcess): Promise<Report> {
  return new Promise((resolve, reject) => {
    const timer = setTimeout(() => {
      child.kill("SIGKILL");
      reject(new Error(`process ${child.pid} gave no report within ${ANSWER_MS_MAX} ms`));
    }, ANSWER_MS_MAX);
    const settle = (act: () => void): void => {
      clearTimeout(timer);
      act();
    };
    child.once("message", (message) => settle(() => resolve(message as Report)));
    child.once("error", (error) => settle(() => reject(error)));
    child.once("exit", (code, signal) =>
      settle(() => reject(new Error(`process ${child.pid} ended (${signal ?? code}) without a report`))),
    );
  });
}

/** Kills a process by its id, with the signal that no process can catch, and waits until it is gone. */
export async function killHard({ pid, ended }: Child<unknown>): Promise<void> {
  process.kill(pid, "SIGKILL");
  const { signal } = await ended;
  claim(signal === "SIGKILL", `process ${pid} was killed by SIGKILL (it ended by ${signal ?? "itself"})`);
}

/** Sends a report from a child to the process that started it. */
export function sendReport(report: unknown): Promise<void> {
  return new Promise((resolve, reject) => {
    process.send?.(report, undefined, {}, (error) => (error === null ? resolve() : reject(error)));
  });
}
