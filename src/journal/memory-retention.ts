import { rootOf } from "../audit/index.ts";
import { memoryConversation } from "./memory-queries.ts";
import type { MemoryTables } from "./memory-tables.ts";
import { blobHashesIn, planRetirement } from "./plan-retirement.ts";
import { type PreparedCommit, prepareRetirement } from "./prepare-commit.ts";
import type { CommitResult, Retired, RetireRequest, RunKey, StoreRetention } from "./store.ts";

/** How the in-memory store forgets. `open` throws once it is closed. */
export function createMemoryRetention(
  tables: MemoryTables,
  open: () => void,
  commit: (commit: PreparedCommit) => CommitResult,
): StoreRetention {
  return {
    retire: async (request) => {
      open();
      return retireInMemory(tables, commit, request);
    },
    dropBlobs: async (without) => {
      open();
      return dropBlobs(tables, without);
    },
  };
}

function retireInMemory(
  tables: MemoryTables,
  commit: (commit: PreparedCommit) => CommitResult,
  request: RetireRequest,
): Retired {
  const { run: key, at, dryRun = false } = request;
  const run = tables.memoryRun(key);
  const { lines = [], projection } = run ?? {};
  const conversation = memoryConversation(tables, key.tenant, projection?.row.conversationId ?? "");
  const audit = { size: tables.frontier.size, root: rootOf(tables.frontier) };
  const plan = planRetirement(request, { lines, conversation, audit });
  if (!plan.ok) {
    return { status: "kept", reason: plan.reason };
  }
  const events = lines.length;
  if (!dryRun && run !== undefined) {
    commit(prepareRetirement(key, events, { at, event: plan.event }));
    run.lines.splice(0, events);
    run.removed = events;
    const approvals = tables.tenant(key.tenant).approvals;
    for (const { approvalId } of [...approvals.values()].filter(({ runId }) => runId === key.runId)) {
      approvals.delete(approvalId);
    }
  }
  return { status: "retired", events, bytes: plan.bytes };
}

function dropBlobs(tables: MemoryTables, without: readonly RunKey[] | undefined) {
  const left = new Set(without?.map((key) => tables.memoryRun(key)));
  const runs = [...tables.tenants.values()].flatMap((tenant) => [...tenant.runs.values()]);
  const meant = new Set(
    runs.filter((run) => !left.has(run)).flatMap(({ lines }) => lines.flatMap(({ text }) => blobHashesIn(text))),
  );
  const dropped = [...tables.blobs].filter(([sha256]) => !meant.has(sha256));
  if (without === undefined) {
    for (const [sha256] of dropped) {
      tables.blobs.delete(sha256);
    }
  }
  return { blobs: dropped.length, bytes: dropped.reduce((sum, [, text]) => sum + Buffer.byteLength(text), 0) };
}
