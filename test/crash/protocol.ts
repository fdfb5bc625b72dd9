import type { Entry, RunKey } from "../../src/index.ts";

/** The run that everything is about, and the one that the queued message starts. */
export const RUN: RunKey = { tenant: "default", runId: "r" };
export const NEXT: RunKey = { tenant: "default", runId: "r2" };
export const CONVERSATION = "c";
/** Points that one changing call costs. */
export const POINTS = 1;

/** Where a process can die: around a transaction and inside it, and around an effect and in its middle. */
export const POINT_KINDS = ["before", "inside", "after", "acknowledged", "effect"] as const;
export type PointKind = (typeof POINT_KINDS)[number];

/** The program after a redeploy: one more tool, one more call, and other arguments of a tool that is asked about. */
export const LATER_REVISION = "2";

/** What one process of a play is told to do. */
export interface Job {
  readonly store: string;
  /** The part of the world that is changed by transactions. */
  readonly shelf: string;
  readonly port: number;
  /** Number of the point at which it dies, counted from 1 in this process; 0: none. */
  readonly dieAt: number;
  readonly kinds: readonly PointKind[];
  /** Dies at the first point whose name begins like this. */
  readonly diesAt?: string;
  /** The time since the process before it, in milliseconds, as its clock has it. */
  readonly aheadMs: number;
  readonly leaseMs: number;
  /** A person answers what is open before the process goes on. */
  readonly decides: boolean;
  /** The process is another program: an agent of a later revision. */
  readonly revision: string;
  readonly worker: string;
  /** The process stands still here until it gets SIGCONT. */
  readonly freezesAt?: FreezePoint;
  /** The call at which it does; ids are made by the place of a call, so a test can know them. Default the first. */
  readonly freezesCall?: string;
  readonly toolTimeoutMs: number;
  /** Milliseconds for which a process looks at a run again that another one holds. */
  readonly patienceMs: number;
}

/** Where a worker stands still: before its request goes out, after it was applied, or around a commit and inside it. */
export type FreezePoint = "request" | "answer" | "commit" | "inside" | "committed";

/** What a process says on its output, one line each, written before anything else can happen. */
export type Line =
  | { readonly type: "acknowledged"; readonly run: RunKey; readonly head: number; readonly entries: readonly Entry[] }
  | { readonly type: "point"; readonly name: string }
  | { readonly type: "frozen" }
  | { readonly type: "decided"; readonly approvalId: string; readonly status: string }
  | { readonly type: "failed"; readonly message: string }
  | {
      readonly type: "over";
      readonly status: string;
      readonly termination?: string;
      readonly points: number;
      /** `PRAGMA synchronous` of the connection that committed. */
      readonly synchronous: number;
    };

export interface WorldRequest {
  readonly op: "effect" | "lookup" | "read";
  readonly tool: string;
  readonly key: string;
  readonly callId: string;
  readonly what: string;
  readonly attempt: number;
  readonly worker: string;
  /** The process dies when this was applied and nothing was answered. */
  readonly kill?: number;
}
