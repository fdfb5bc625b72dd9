import type { Entry, JsonValue, RunEvent } from "../core/index.ts";
import type { Store } from "../journal/index.ts";
import { countOf, invalidFault } from "./fault-check.ts";
import type { Fault } from "./suite.ts";

/** What goes wrong in the store of one case. */
export interface StoreFaults {
  /** Makes a fault of the runner's own kinds; returns false for any other. Throws `BELAY_EVAL_CASE`. */
  apply(fault: Fault): boolean;
  /** Another process takes over. */
  revive(): void;
  /** The store as it was, so that its audit log is looked at without the fault. */
  restore(): void;
}

/** The process that drove the run is gone; the run goes on in another one. */
export class ProcessDied extends Error {
  override readonly name: string = "ProcessDied";
}

/**
 * Puts the in-memory store of a case behind its faults; only ever a store that the case made itself.
 *
 * Kinds: `lost_outcome {}` lets the process die when it is about to record what a changing call did; `edit_stored_args
 * {args, call}` gives the arguments of the run's call number `call` (default 1) otherwise than they were recorded, as
 * somebody could who writes to the database.
 */
export function faultyStore(store: Store): StoreFaults {
  const { commit, read } = store;
  let life: "alive" | "doomed" | "dead" = "alive";
  let edit: { readonly call: number; readonly args: JsonValue } | undefined;
  Object.assign(store, {
    commit: (async (request) => {
      if (life === "doomed" && request.entries.some(({ event }) => isOutcome(event))) {
        life = "dead";
      }
      // Whatever else a dead process would still like to write, it does not.
      if (life === "dead") {
        throw new ProcessDied("the process died before it recorded the outcome");
      }
      return commit(request);
    }) satisfies Store["commit"],
    read: (async (run, after) => {
      const entries = await read(run, after);
      return edit === undefined ? entries : entries.map((entry) => edited(entry, edit));
    }) satisfies Store["read"],
  });
  return {
    apply: (fault) => {
      switch (fault.kind) {
        case "lost_outcome":
          life = "doomed";
          return true;
        case "edit_stored_args": {
          if (fault["args"] === undefined) {
            throw invalidFault(fault, "args must say what stands there now");
          }
          edit = { call: countOf(fault, "call", 1), args: fault["args"] };
          return true;
        }
        default:
          return false;
      }
    },
    revive: () => {
      life = "alive";
    },
    restore: () => {
      Object.assign(store, { commit, read });
    },
  };
}

function isOutcome(event: RunEvent): boolean {
  return event.type === "call.settled" && event.attempt !== undefined && event.attempt > 0;
}

function edited<Stored extends Entry>(
  entry: Stored,
  edit: { readonly call: number; readonly args: JsonValue } | undefined,
): Stored {
  const { event } = entry;
  if (edit === undefined || event.type !== "model.replied" || event.output.kind !== "calls") {
    return entry;
  }
  const { args } = edit;
  const calls = event.output.calls.map((call, at) => (at + 1 === edit.call ? { ...call, args } : call));
  return { ...entry, event: { ...event, output: { ...event.output, calls } } };
}
