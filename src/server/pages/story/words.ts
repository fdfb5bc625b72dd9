import type { LimitId, OutcomeFailure, PermissionLevel, RecoveryClass } from "../../../core/index.ts";

/** What a tool of this level can do, for people who decide. */
export const LEVEL_WORDS: Readonly<Record<PermissionLevel, string>> = {
  read: "Only looks something up. Nothing changes.",
  write: "Changes data. It can be changed back.",
  admin: "Changes settings or rights that other work depends on.",
  irreversible: "Cannot be undone once it has happened.",
};

/** What happens to a call whose outcome was lost in a crash. */
export const RECOVERY_WORDS: Readonly<Record<RecoveryClass, string>> = {
  read: "It can be repeated freely.",
  keyed: "It carries a key, so that a repeat after a crash does not happen twice.",
  queryable: "After a crash its outcome is looked up before anything is done again.",
  opaque: "After a crash nobody can know whether it happened; it is never repeated by itself.",
};

export const LIMIT_WORDS: Readonly<Record<LimitId, string>> = {
  max_steps: "The run reached its limit of steps.",
  token_budget: "The run reached its limit of tokens.",
  cost_budget: "The run reached its limit of cost.",
  wall_clock: "The run reached its limit of working time.",
  repeated_call: "The same call was asked for too often.",
  cycle: "The calls went round in a circle.",
  invalid_calls: "Too many calls were wrong.",
  unreadable_replies: "The model's replies could not be read.",
  rejections: "People said no too often in this run.",
};

/** What became of a call that did not run or did not succeed. */
export const FAILURE_WORDS: Readonly<Record<OutcomeFailure, string>> = {
  refused: "refused",
  denied: "refused",
  rejected: "rejected by a person",
  expired: "expired",
  world_changed: "stopped: the facts have changed",
  failed: "failed",
  unknown: "outcome unknown",
  not_run: "not run",
};

/** A termination code in a sentence; codes of an app's own stand for themselves. */
export function endWords(code: string): string {
  const [kind = "", detail] = splitOnce(code);
  if (Object.hasOwn(LIMIT_WORDS, kind)) {
    return LIMIT_WORDS[kind as LimitId];
  }
  switch (kind) {
    case "completed":
      return "The run ended with an answer.";
    case "rejected":
      return "A person said no, and that ended the run.";
    case "approval_expired":
      return "Nobody answered the question in time, and that ended the run. Nothing was done.";
    case "world_changed":
      return `The facts had changed when the question was answered (${detail ?? "no code"}). Nothing was done.`;
    case "halted":
      return `A rule stopped the run (${detail ?? "no code"}).`;
    case "outcome_unknown":
      return "Nobody knows whether the last call happened. A person has to look it up.";
    case "model_error":
      return "The model did not answer.";
    case "cancelled":
      return "A person cancelled the run.";
    default:
      return "The run ended.";
  }
}

/** A code of the harness as a word for a list: `approval expired`. Codes of rules stay as they are written. */
export function codeText(code: string): string {
  const [kind, detail] = splitOnce(code);
  return detail === undefined ? kind.replaceAll("_", " ") : `${kind.replaceAll("_", " ")}: ${detail}`;
}

function splitOnce(code: string): readonly [string, string | undefined] {
  const at = code.indexOf(":");
  return at === -1 ? [code, undefined] : [code.slice(0, at), code.slice(at + 1)];
}
