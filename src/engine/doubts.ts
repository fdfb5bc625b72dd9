import type { CallState } from "../core/index.ts";
import type { RunKey } from "../journal/index.ts";
import type { EngineContext } from "./context.ts";
import type { Kit } from "./kit.ts";

const ARGUMENTS_CHARACTERS_MAX = 300;

/**
 * What an ended run's memory says instead of an answer when calls of it were in doubt, or `undefined` when none was.
 *
 * In the words of the harness and with the call's own arguments; a person's note stays with people.
 */
export async function doubtsOf({ kit: { core }, store }: EngineContext, run: RunKey): Promise<string | undefined> {
  const state = core.fold(await store.read(run));
  const calls = [...(state?.earlierCalls ?? []), ...(state?.turn ?? [])];
  const unknown = calls.filter(({ outcome }) => outcome?.status === "unknown");
  return unknown.length === 0 ? undefined : unknown.map((call) => sentenceOf(core, call)).join("; ");
}

function sentenceOf({ canonicalize }: Kit["core"], { call, reconciled }: CallState): string {
  const args = canonicalize(call.args);
  const name = `${call.tool} ${args.ok ? args.text.slice(0, ARGUMENTS_CHARACTERS_MAX).toWellFormed() : "{}"}`;
  switch (reconciled?.outcome) {
    case "happened":
      return `${name} has happened, as a person has found out`;
    case "did_not_happen":
      return `${name} has not happened, as a person has found out`;
    case undefined:
      return `nobody knows yet whether ${name} has happened`;
  }
}
