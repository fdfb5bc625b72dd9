import { z } from "zod";
import { type AnyTool, type JsonValue, toolFailure } from "../../../src/index.ts";
import type { Acts, ToolName } from "./plan.ts";

export const SECRET = "hunter2";
export const TOOL_TIMEOUT_MS = 8;

/** One process of the fuzz. What it has in hand when it dies never happens. */
export interface Process {
  readonly name: string;
  isDead: boolean;
}

export class Crash extends Error {}

/** Something that really happened on the far side, outside every process. */
export interface Happening {
  readonly tool: ToolName;
  readonly callId: string;
  readonly key: string;
  readonly attempt: number;
  readonly args: JsonValue;
  /** The intent was in the journal at that moment. */
  readonly wasRecorded: boolean;
}

export interface FarSide {
  readonly happened: Happening[];
  /** Times a tool was run, also where the far side dropped the repetition. */
  readonly ran: Happening[];
  readonly transaction: <Value>(work: () => Value) => Value;
  tools(process: Process): readonly AnyTool[];
}

export interface Args {
  readonly id: number;
  readonly says: string;
  readonly acts: string;
}

const INPUT = z.strictObject({ id: z.int(), says: z.string(), acts: z.string() });

type Context = Parameters<AnyTool["execute"]>[1];

/** `isRecorded` looks an intent up in what is durable, without waiting. */
export function createFarSide(isRecorded: (callId: string, attempt: number, key: string) => boolean): FarSide {
  const happened: Happening[] = [];
  const ran: Happening[] = [];
  const tried = new Set<string>();
  const died = new Set<string>();
  let depth = 0;

  const isKnown = (tool: ToolName, key: string) => happened.some((each) => each.tool === tool && each.key === key);

  function happen(tool: ToolName, args: Args, { callId, idempotencyKey: key, attempt }: Context): void {
    const one = { tool, callId, key, attempt, args: { ...args }, wasRecorded: isRecorded(callId, attempt, key) };
    ran.push(one);
    // A far side with keys drops what it has done under one; a transaction is guarded by its own look-up.
    if (tool !== "keyed" || !isKnown(tool, key)) happened.push(one);
  }

  function die(process: Process, key: string): void {
    // Once: the next process gets further.
    if (died.has(key)) return;
    died.add(key);
    process.isDead = true;
    throw new Crash("the process died inside a tool");
  }

  function act(tool: ToolName, process: Process, args: Args, context: Context): unknown {
    if (process.isDead) return new Promise(() => undefined);
    const { idempotencyKey: key, callId } = context;
    const isFirst = !tried.has(key);
    tried.add(key);
    const doIt = (): void => happen(tool, args, context);
    switch (args.acts as Acts) {
      case "fail":
        return toolFailure("SAID_NO", `the far side said no to ${callId}`);
      case "throw":
        throw new Error(`password=${SECRET}`);
      case "throw_once":
        if (isFirst) throw new Error(`password=${SECRET}`);
        break;
      case "throw_after":
        doIt();
        throw new Error(`password=${SECRET}`);
      case "hang":
        return unlessTransaction(tool, () => undefined);
      case "hang_after":
        return unlessTransaction(tool, doIt);
      case "junk_result":
        doIt();
        return () => "not JSON";
      case "huge_result":
        doIt();
        return "h".repeat(100_000);
      case "die":
        die(process, key);
        break;
      case "die_after":
        doIt();
        die(process, key);
        return { done: args.id };
      default:
        break;
    }
    doIt();
    return { done: args.id };
  }

  const toolOf = (name: ToolName, process: Process): AnyTool => ({
    name,
    description: name,
    level: name === "read" ? "read" : name === "risky" ? "irreversible" : "write",
    recovery: name === "read" ? "read" : name === "world" ? "keyed" : name === "risky" ? "opaque" : name,
    timeoutMs: TOOL_TIMEOUT_MS,
    input: INPUT,
    ...(name === "world" ? { inTransaction: true } : {}),
    ...(name === "read" ? { untrusted: true } : {}),
    ...(name === "risky" ? { risk: "may_happen_twice_or_unknown" as const } : {}),
    execute: (args: Args, context: Context) => act(name, process, args, context),
    ...(name === "queryable" || name === "world"
      ? {
          lookup: (_args: Args, { idempotencyKey }: Context) =>
            isKnown(name, idempotencyKey) ? { done: "before" } : undefined,
        }
      : {}),
  });

  return {
    happened,
    ran,
    transaction: (work) => {
      const before = happened.length;
      depth += 1;
      try {
        return work();
      } catch (error) {
        // A transaction takes back what this process did in it; nobody else can be inside.
        happened.length = before;
        throw error;
      } finally {
        depth -= 1;
      }
    },
    tools: (process) =>
      (["read", "keyed", "queryable", "opaque", "world", "risky"] as const).map((name) => toolOf(name, process)),
  };

  /** A tool of a transaction answers at once, so it cannot hang. */
  function unlessTransaction(tool: ToolName, before: () => void): unknown {
    before();
    return tool === "world" || depth > 0 ? { done: "at once" } : new Promise(() => undefined);
  }
}
