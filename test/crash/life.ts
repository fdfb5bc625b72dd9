import { type ChildProcess, spawn } from "node:child_process";
import { dirname, join } from "node:path";
import type { Job, Line } from "./protocol.ts";

type Of<Type extends Line["type"]> = Extract<Line, { type: Type }>;

/** What became of one process. */
export interface Life {
  readonly job: Job;
  readonly lines: readonly Line[];
  readonly wasKilled: boolean;
  /** The point at which it died, if it died at one. */
  readonly diedAt?: string;
  /** What it said when it got to the end. */
  readonly over?: Of<"over">;
  readonly failed?: string;
}

export interface Living {
  readonly child: ChildProcess;
  readonly done: Promise<Life>;
  /** Resolves when the process stands still. */
  readonly frozen: Promise<void>;
}

/** A process that hangs is killed after this, and the play says so. */
const LIFE_MS_MAX = 40_000;

export function linesOf<Type extends Line["type"]>(lines: readonly Line[], type: Type): readonly Of<Type>[] {
  return lines.filter((line): line is Of<Type> => line.type === type);
}

/** Starts a process with its job. */
export function beginLife(program: string, job: Job): Living {
  const child = spawn(process.execPath, [program, JSON.stringify(job)], {
    stdio: ["ignore", "pipe", "pipe"],
    // Compiled once and not by each of them.
    env: { ...process.env, NODE_COMPILE_CACHE: join(dirname(program), "compiled") },
  });
  const lines: Line[] = [];
  const frozen = Promise.withResolvers<void>();
  let [text, errors] = ["", ""];
  child.stderr.setEncoding("utf8").on("data", (chunk: string) => {
    errors += chunk;
  });
  child.stdout.setEncoding("utf8").on("data", (chunk: string) => {
    const parts = `${text}${chunk}`.split("\n");
    text = parts.pop() ?? "";
    for (const part of parts) {
      const line = JSON.parse(part) as Line;
      lines.push(line);
      if (line.type === "frozen") frozen.resolve();
    }
  });
  const timer = setTimeout(() => child.kill("SIGKILL"), LIFE_MS_MAX);
  const done = new Promise<Life>((resolve) => {
    child.once("close", (code, signal) => {
      clearTimeout(timer);
      frozen.resolve();
      const [point] = linesOf(lines, "point");
      const [over] = linesOf(lines, "over");
      const [failure] = linesOf(lines, "failed");
      const wasKilled = signal === "SIGKILL";
      const isClean = over !== undefined && code === 0;
      const failed = failure?.message ?? (isClean || wasKilled ? undefined : `exit ${code} ${signal}: ${errors}`);
      resolve({
        job,
        lines,
        wasKilled,
        ...(point === undefined ? {} : { diedAt: point.name }),
        ...(over === undefined ? {} : { over }),
        ...(failed === undefined ? {} : { failed }),
      });
    });
  });
  return { child, done, frozen: frozen.promise };
}
