import { userInfo } from "node:os";
import { type RetireRunsResult, retireRuns } from "../journal/index.ts";
import { type Command, type CommandInput, DATABASE_OPTIONS, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { openStore, placeOf, withStore } from "./place.ts";
import { usageError } from "./usage.ts";

const DAY_MS = 86_400_000;

export const gcCommand: Command = {
  name: "gc",
  summary: "remove events, inbox lines and blobs of runs that ended long ago; their audit records stay",
  positionals: [],
  options: {
    "older-than": { type: "string", value: "days", help: "keep what was written to in so many days, such as 90d" },
    "dry-run": { type: "boolean", help: "say what would be removed, and remove nothing" },
    ...JSON_OPTION,
    ...DATABASE_OPTIONS,
  },
  examples: ["gc --older-than 90d --dry-run", "gc --older-than 90d"],
  run: async (input) => {
    const place = placeOf(input);
    const isDryRun = hasFlag(input, "dry-run");
    const result = await withStore(openStore(place), (store) =>
      retireRuns(store, {
        tenant: place.tenant,
        olderThanMs: daysOf(input) * DAY_MS,
        now: Date.now(),
        by: { kind: "system", id: `gc:${userName()}` },
        dryRun: isDryRun,
        signal: input.signal,
      }),
    );
    if (hasFlag(input, "json")) {
      input.output.json({ dryRun: isDryRun, ...result }, 2);
    } else {
      printResult(input, result, isDryRun);
    }
    return 0;
  },
};

/** Without it nothing is removed: how long runs must be kept is nobody's default. */
function daysOf(input: CommandInput): number {
  const text = textOption(input, "older-than");
  if (text === undefined) {
    throw usageError("belay gc needs --older-than, such as --older-than 90d.");
  }
  const days = /^([1-9][0-9]{0,5})d$/.exec(text)?.[1];
  if (days === undefined) {
    throw usageError(`--older-than takes whole days from 1d, such as 90d, not ${JSON.stringify(text)}.`);
  }
  return Number(days);
}

/** Whoever may write the file may remove from it; this is only who the machine says it was. */
function userName(): string {
  try {
    return userInfo().username;
  } catch {
    return "unknown";
  }
}

function printResult(input: CommandInput, result: RetireRunsResult, isDryRun: boolean): void {
  const { runs, events, blobs, bytes, kept } = result;
  const verb = isDryRun ? "would be removed" : "removed";
  input.output.line(`${verb}: ${events} events of ${runs} runs, ${blobs} blobs, ${bytes} bytes`);
  for (const [reason, count] of Object.entries(kept)) {
    input.output.line(`kept: ${count} older runs, because ${reason}`);
  }
}
