import { hash } from "node:crypto";
import type { Entry, RunEvent } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { copyEvent } from "./copy-event.ts";
import { type Commit, EVENT_SCHEMA, type RunKey } from "./store.ts";
import { encodeEvent } from "./stored-entry.ts";

const ID_CHARACTERS_MAX = 256;

/** A commit cut loose from its caller: whatever the caller changes afterwards, this stays. */
export interface PreparedCommit {
  readonly run: RunKey;
  readonly head: number;
  readonly entries: readonly PreparedEntry[];
  readonly blobs: readonly (readonly [sha256: string, text: string])[];
}

export interface PreparedEntry extends Entry {
  /** The event as it will be stored. */
  readonly text: string;
  /** SHA-256 in hex of `text`. */
  readonly textHash: string;
  readonly schema: number;
}

/**
 * Checks a commit and copies it, before any transaction begins.
 *
 * Throws `BELAY_COMMIT_INVALID` for a commit that no store may take, and what `encodeEvent` throws.
 */
export function prepareCommit(commit: Commit): PreparedCommit {
  const run = checkRunKey(commit.run);
  if (!Number.isSafeInteger(commit.head) || commit.head < 0) {
    throw invalid(run, `its head ${String(commit.head)} is not a number of entries`, "Pass the number of entries read");
  }
  const entries = commit.entries.map((entry) => prepareEntry(run, entry));
  if (entries.length === 0) {
    throw invalid(run, "it holds no events", "Commit at least one event");
  }
  const blobs = [...(commit.blobs ?? [])];
  for (const [sha256, text] of blobs) {
    if (!text.isWellFormed() || hash("sha256", text) !== sha256) {
      throw invalid(
        run,
        `the blob ${sha256} is not what its name says`,
        "Name a blob by the SHA-256 of its UTF-8 text",
      );
    }
  }
  return { run, head: commit.head, entries, blobs };
}

/** Refuses a key that a store could mix up with another; returns a copy. */
export function checkRunKey({ tenant, runId }: RunKey): RunKey {
  for (const id of [tenant, runId]) {
    if (typeof id !== "string" || id === "" || id.length > ID_CHARACTERS_MAX || !id.isWellFormed()) {
      throw new BelayError(
        "BELAY_COMMIT_INVALID",
        `A run key needs a tenant and a run id of 1 to ${ID_CHARACTERS_MAX} characters, ` +
          `not ${JSON.stringify(String(id).slice(0, 40))}. Pass both ids as they were given out.`,
      );
    }
  }
  return { tenant, runId };
}

/** The commit that retires a run; no other may hold that event. */
export function prepareRetirement(run: RunKey, head: number, entry: Entry): PreparedCommit {
  return { run: checkRunKey(run), head, entries: [prepareEntry(run, entry, true)], blobs: [] };
}

function prepareEntry(run: RunKey, { at, event }: Entry, isRetirement = false): PreparedEntry {
  if (!Number.isSafeInteger(at) || at < 0) {
    throw invalid(
      run,
      `its time ${String(at)} is not whole milliseconds since the epoch`,
      "Take the time from a clock",
    );
  }
  const text = encodeEvent(run, event);
  const copy = copyEvent(event, text);
  checkEvent(run, copy, isRetirement);
  return { at, event: copy, text, textHash: hash("sha256", text), schema: EVENT_SCHEMA };
}

function checkEvent(run: RunKey, event: RunEvent, isRetirement: boolean): void {
  switch (event.type) {
    case "run.retired":
      if (!isRetirement) {
        throw invalid(run, "its event run.retired says that events were removed", "Retire runs with retireRuns()");
      }
      return;
    case "run.started":
      if (event.tenant !== run.tenant) {
        throw invalid(run, `its tenant is ${run.tenant} and its event says ${event.tenant}`, "Use one tenant for both");
      }
      return;
    case "budget.reserved":
      checkAmount(run, event.amount);
      checkAmount(run, event.limit);
      return;
    case "budget.settled":
      checkAmount(run, event.amount);
      return;
    default:
  }
}

/** A negative or inexact amount would widen a budget that others share. */
function checkAmount(run: RunKey, amount: number): void {
  if (!Number.isSafeInteger(amount) || amount < 0) {
    throw invalid(run, `the budget amount ${String(amount)} is not a whole number from 0`, "Count in whole units");
  }
}

function invalid(run: RunKey, problem: string, remedy: string): BelayError {
  return new BelayError("BELAY_COMMIT_INVALID", `A commit to run ${run.runId} was refused: ${problem}. ${remedy}.`);
}
