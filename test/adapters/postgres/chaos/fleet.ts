import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { fileURLToPath } from "node:url";

/** What one worker process is told. */
export interface WorkerTask {
  readonly postgresUrl: string;
  /** Store and waker in this SQLite file instead. */
  readonly sqlitePath?: string;
  readonly ledgerUrl: string;
  readonly revision: string;
  readonly leaseMs: number;
  readonly modelMs: number;
  readonly concurrency: number;
  readonly budgets?: Readonly<Record<string, number>>;
  readonly restate?: {
    readonly ingressUrl: string;
    readonly adminUrl: string;
    readonly listen: { readonly port: number };
  };
}

export interface FleetWorker {
  readonly child: ChildProcess;
  /** What it wrote on stderr. */
  log(): string;
  /** SIGTERM; resolves to the exit code. */
  stop(): Promise<number | null>;
  kill(): Promise<void>;
}

const PROGRAM = fileURLToPath(new URL("./worker.ts", import.meta.url));

/** Starts a worker and waits until it works. */
export async function startWorker(task: WorkerTask): Promise<FleetWorker> {
  const child = spawn(process.execPath, ["--conditions=belay-source", PROGRAM, JSON.stringify(task)], {
    stdio: ["ignore", "pipe", "pipe", "ipc"],
  });
  let log = "";
  child.stderr?.setEncoding("utf8").on("data", (text: string) => {
    log += text;
  });
  const ended = once(child, "exit");
  const first = await Promise.race([once(child.stdout as NonNullable<typeof child.stdout>, "data"), ended]);
  if (String(first[0]).trim() !== "ready") throw new Error(`a worker did not start:\n${log}`);
  return {
    child,
    log: () => log,
    stop: async () => {
      child.kill("SIGTERM");
      const [code] = (await ended) as [number | null];
      return code;
    },
    kill: async () => {
      child.kill("SIGKILL");
      await ended;
    },
  };
}

/** Workers of a test, ended with it, whatever happens. */
export interface Fleet extends AsyncDisposable {
  readonly workers: FleetWorker[];
  add(task: WorkerTask): Promise<FleetWorker>;
  /** SIGKILL, and out of the list. */
  kill(worker: FleetWorker): Promise<void>;
}

export function createFleet(): Fleet {
  const workers: FleetWorker[] = [];
  return {
    workers,
    add: async (task) => {
      const worker = await startWorker(task);
      workers.push(worker);
      return worker;
    },
    kill: async (worker) => {
      workers.splice(workers.indexOf(worker), 1);
      await worker.kill();
    },
    [Symbol.asyncDispose]: async () => {
      await Promise.all(
        workers.splice(0).map(async (worker) => {
          worker.child.kill("SIGCONT");
          await worker.kill();
        }),
      );
    },
  };
}
