import { setTimeout as sleep } from "node:timers/promises";
import { decodeFrontier, rootOf } from "../../audit/index.ts";
import {
  checkRunKey,
  type JournalLine,
  type PreparedCommit,
  planRetirement,
  prepareRetirement,
  type Retired,
  type RetireRequest,
  type RunKey,
  type RunRow,
  type StoredRow,
  toJournalLine,
} from "../../journal/index.ts";
import { commitLocked } from "./commit-batch.ts";
import type { Database } from "./database.ts";
import { lockRuns } from "./load-runs.ts";
import { commitUnknown, failureKind, TornRun, UnansweredCommit } from "./postgres-error.ts";
import { queryConversation } from "./postgres-queries.ts";
import { linesOf } from "./project-job.ts";
import type { Outcome, Session } from "./session.ts";
import { columnsOf, JOURNAL } from "./tables.ts";

const TRIES_MAX = 5;
const PAUSE_MS = 40;

/** A try whose COMMIT was sent, and of which it is not known whether it was kept. */
interface Unanswered {
  commit?: PreparedCommit;
  retired?: Retired;
}

/** Retires one run in one transaction, again after a deadlock or a lost connection, and never twice. */
export async function retireRun(database: Database, request: RetireRequest): Promise<Retired> {
  const run = checkRunKey(request.run);
  const unanswered: Unanswered = {};
  let mayBeStored = false;
  for (let tries = 1; ; tries += 1) {
    try {
      return await database.attempt(lockRuns(database.settings.schema, [run]), (session, locked) =>
        retireLocked(database, session, locked, { ...request, run }, unanswered),
      );
    } catch (error) {
      mayBeStored ||= error instanceof UnansweredCommit;
      if (!mayBeStored) delete unanswered.commit;
      if (failureKind(error) === "final" || tries >= TRIES_MAX) {
        throw mayBeStored ? commitUnknown(database.settings.label, error) : database.translate(error);
      }
    }
    await sleep(PAUSE_MS * tries * (0.5 + Math.random()));
  }
}

async function retireLocked(
  database: Database,
  session: Session,
  locked: readonly StoredRow[],
  request: RetireRequest,
  unanswered: Unanswered,
): Promise<Outcome<Retired>> {
  const { schema } = database.settings;
  const { run, at, dryRun = false } = request;
  const { lines, conversation, audit } = await viewOf(session, schema, run, locked);
  if (unanswered.commit !== undefined && unanswered.retired !== undefined && isKept(unanswered.commit, lines)) {
    return { value: unanswered.retired, keep: false };
  }
  const plan = planRetirement(request, { lines, conversation, audit });
  if (!plan.ok) {
    return { value: { status: "kept", reason: plan.reason }, keep: false };
  }
  const retired: Retired = { status: "retired", events: lines.length, bytes: plan.bytes };
  if (dryRun) {
    return { value: retired, keep: false };
  }
  const commit = prepareRetirement(run, lines.length, { at, event: plan.event });
  await write(database, session, locked, commit);
  Object.assign(unanswered, { commit, retired });
  return { value: retired, keep: true };
}

async function viewOf(
  session: Session,
  schema: string,
  { tenant, runId }: RunKey,
  locked: readonly StoredRow[],
): Promise<{
  readonly lines: readonly JournalLine[];
  readonly conversation: readonly RunRow[];
  readonly audit: { readonly size: number; readonly root: string };
}> {
  const sql = `SELECT ${columnsOf(JOURNAL)} FROM ${schema}.journal WHERE tenant = $1 AND run_id = $2 ORDER BY seq`;
  const lines = (await session.all(sql, tenant, runId)).map(toJournalLine);
  const conversation = await queryConversation(session, schema, tenant, String(locked[0]?.["conversation_id"] ?? ""));
  const [state] = await session.all(`SELECT frontier FROM ${schema}.audit_state WHERE id = 1`);
  const frontier = decodeFrontier(String(state?.["frontier"]));
  return { lines, conversation, audit: { size: frontier.size, root: rootOf(frontier) } };
}

/** Whether what is left of the run is what an earlier try wrote. */
function isKept(commit: PreparedCommit, lines: readonly JournalLine[]): boolean {
  const [wanted] = linesOf(commit);
  const [first] = lines;
  return first !== undefined && first.seq === wanted?.seq && first.at === wanted.at && first.text === wanted.text;
}

async function write(
  database: Database,
  session: Session,
  locked: readonly StoredRow[],
  commit: PreparedCommit,
): Promise<void> {
  const { schema } = database.settings;
  const { run, head } = commit;
  const { value } = await commitLocked(database, session, [{ commit, mayBeStored: false }], locked, false);
  const [outcome] = value;
  if (outcome?.status === "invalid") {
    throw outcome.error;
  }
  if (outcome?.result.status !== "committed") {
    throw new TornRun("a run that is locked has moved");
  }
  const values = [run.tenant, run.runId];
  await session.each([
    { sql: `DELETE FROM ${schema}.journal WHERE tenant = $1 AND run_id = $2 AND seq <= $3`, values: [...values, head] },
    { sql: `DELETE FROM ${schema}.approvals WHERE tenant = $1 AND run_id = $2`, values },
    // The index of runs keeps what `run.retired` says of the run, and no word of it.
    { sql: `UPDATE ${schema}.runs SET input = '' WHERE tenant = $1 AND run_id = $2`, values },
  ]);
}
