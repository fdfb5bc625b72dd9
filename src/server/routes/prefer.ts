import type { ServerContext } from "../http/env.ts";

const WAIT_S_MAX = 30;

/** Milliseconds of `Prefer: wait=n` (RFC 7240), at most 30 seconds, and says in the answer what was taken. */
export function waitOf(context: ServerContext, prefer: string | undefined): number {
  const [, text] = /(?:^|[,;\s])wait=(\d{1,4})(?:$|[,;\s])/.exec(prefer ?? "") ?? [];
  if (text === undefined) return 0;
  const seconds = Math.min(Number(text), WAIT_S_MAX);
  context.header("preference-applied", `wait=${seconds}`);
  return seconds * 1000;
}
