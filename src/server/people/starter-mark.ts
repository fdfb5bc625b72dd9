import { createHash } from "node:crypto";
import type { SignedIn } from "../deps.ts";

const ALPHABET = "0123456789abcdefghjkmnpqrstvwxyz";
const MARK_CHARACTERS = 13;
const KNOWN_MAX = 10_000;

const known = new Map<string, string>();

/**
 * The id of a run with the mark of whoever starts it.
 *
 * The journal knows for whom a run works. That the same person may not approve what they asked for in a customer's name
 * has to be known as long as the run, so it is a part of its id: in the same write, under the same proof, and no second
 * database to lose. Ids of runs are made here and nowhere else; nobody can take another's mark.
 */
export function markedRunId(runId: string, by: SignedIn): string {
  return `${runId}.${markOf(by)}`;
}

/** Whether somebody started a run, in whatever name. */
export function hasStarted({ runId }: { readonly runId: string }, by: SignedIn): boolean {
  return runId.endsWith(`.${markOf(by)}`);
}

/** 65 bits of a hash: two people never share a mark. One person under two spellings is still one person. */
function markOf({ person, kind = "person" }: SignedIn): string {
  const name = `${kind}:${person.id.toLowerCase()}`;
  const found = known.get(name);
  if (found !== undefined) return found;
  if (known.size >= KNOWN_MAX) known.clear();
  const hash = createHash("sha256").update(`belay starter\n${name}`).digest();
  const mark = [...hash.subarray(0, MARK_CHARACTERS)].map((byte) => ALPHABET[byte % ALPHABET.length] ?? "0").join("");
  known.set(name, mark);
  return mark;
}
