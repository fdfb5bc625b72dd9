import { BelayError } from "../errors.ts";
import { type CommandInput, type OptionSpec, textOption } from "./command.ts";
import { choice, usageError, wholeNumber } from "./usage.ts";

const WAKERS = ["pg-boss", "restate"] as const;

type WorkerOption =
  | "postgres"
  | "waker"
  | "concurrency"
  | "grace"
  | "restate-ingress"
  | "restate-admin"
  | "restate-listen"
  | "restate-deployment";

export const WORKER_OPTIONS: Readonly<Record<WorkerOption, OptionSpec>> = {
  postgres: {
    type: "string",
    value: "url",
    help: "PostgreSQL with the runs (default the variable BELAY_POSTGRES, which other users do not see)",
  },
  waker: { type: "string", value: "kind", help: `who wakes runs: ${WAKERS.join(" or ")} (default pg-boss)` },
  concurrency: { type: "string", value: "n", help: "runs advanced at once (default 8)" },
  grace: { type: "string", value: "seconds", help: "what is under way gets after SIGTERM (default 10)" },
  "restate-ingress": { type: "string", value: "url", help: "Restate's ingress (default http://127.0.0.1:8080)" },
  "restate-admin": { type: "string", value: "url", help: "Restate's admin API (default http://127.0.0.1:9070)" },
  "restate-listen": { type: "string", value: "host:port", help: "where Restate delivers (default 127.0.0.1:9080)" },
  "restate-deployment": { type: "string", value: "url", help: "one address for all workers, such as a balancer's" },
};

export interface WorkerSettings {
  readonly postgres: string;
  readonly concurrency: number;
  readonly graceMs: number;
  readonly waker: "pg-boss" | RestatePlace;
  /** How long a worker may be silent before another takes its run. */
  readonly leaseMs: number;
}

interface RestatePlace {
  readonly ingressUrl: string;
  readonly adminUrl: string;
  readonly listen: { readonly host: string; readonly port: number };
  readonly deploymentUrl?: string;
}

// pg-boss knows after 10 s of silence that a worker is dead, Restate at once; a lease that outlived that would only
// delay who takes over, and a lease that is too short would be lost by a worker whose machine is busy.
const LEASE_MS = { "pg-boss": 10_000, restate: 1200 } as const;

/** Reads the options; throws `BELAY_USAGE`, and never shows the address, which may hold a password. */
export function workerSettings(input: CommandInput, env: NodeJS.ProcessEnv): WorkerSettings {
  const postgres = textOption(input, "postgres") ?? env["BELAY_POSTGRES"];
  if (postgres === undefined || postgres === "") {
    throw usageError("A worker needs --postgres or the variable BELAY_POSTGRES. On one machine use belay work.");
  }
  const kind = choice("waker", textOption(input, "waker") ?? "pg-boss", WAKERS);
  return {
    postgres,
    concurrency: wholeNumber("--concurrency", textOption(input, "concurrency") ?? "8", 1, 1000),
    graceMs: 1000 * wholeNumber("--grace", textOption(input, "grace") ?? "10", 0, 3600),
    waker: kind === "restate" ? restatePlace(input) : noRestate(input),
    leaseMs: LEASE_MS[kind],
  };
}

function noRestate(input: CommandInput): "pg-boss" {
  const [unused] = Object.keys(input.options).filter((name) => name.startsWith("restate-") && input.options[name]);
  if (unused !== undefined) throw usageError(`--${unused} is of no use without --waker restate.`);
  return "pg-boss";
}

function restatePlace(input: CommandInput): RestatePlace {
  const deploymentUrl = textOption(input, "restate-deployment");
  const listen = textOption(input, "restate-listen") ?? "127.0.0.1:9080";
  const [, host, port] = /^(?:\[?([0-9A-Za-z.:-]+?)\]?):([0-9]{1,5})$/.exec(listen) ?? [];
  if (host === undefined || port === undefined) {
    throw usageError(`--restate-listen is ${JSON.stringify(listen)}. Give host:port, such as 127.0.0.1:9080.`);
  }
  return {
    ingressUrl: textOption(input, "restate-ingress") ?? "http://127.0.0.1:8080",
    adminUrl: textOption(input, "restate-admin") ?? "http://127.0.0.1:9070",
    listen: { host, port: wholeNumber("--restate-listen", port, 1, 65_535) },
    ...(deploymentUrl === undefined ? {} : { deploymentUrl }),
  };
}

/** Loads what only this command needs; throws `BELAY_PEER_MISSING` when a package is not installed. */
export async function loadPeer<Module>(load: () => Promise<Module>): Promise<Module> {
  try {
    return await load();
  } catch (cause) {
    const [, name] = /Cannot find package '([^']+)'/.exec(cause instanceof Error ? cause.message : "") ?? [];
    if (name === undefined) throw cause;
    throw new BelayError("BELAY_PEER_MISSING", `The worker needs the package ${name}. Run: npm install ${name}`, {
      cause,
    });
  }
}
