import { describe, expect, it } from "vitest";
import { type CommitResult, createMemoryStore, type Store } from "../../src/journal/index.ts";
import { storeConformance } from "../../src/testing/index.ts";

/** Stores that break one promise each. The suite must notice. */
const SABOTAGES: Readonly<Record<string, (store: Store) => Partial<Store>>> = {
  "ignores the head": (store) => ({
    commit: async (commit) => {
      const head = (await store.run(commit.run))?.head ?? 0;
      return store.commit({ ...commit, head });
    },
  }),
  "refuses no budget": (store) => ({
    commit: async (commit): Promise<CommitResult> => {
      const result = await store.commit(commit);
      return result.status === "refused" ? { status: "committed", head: commit.head + commit.entries.length } : result;
    },
  }),
  "hands out every lease": (store) => ({
    acquireLease: async (...request) => {
      const lease = await store.acquireLease(...request);
      return lease.status === "busy" ? { status: "held", fence: 1 } : lease;
    },
  }),
  "keeps its fence after a release": () => ({ releaseLease: async () => undefined }),
  "mixes tenants": (store) => ({
    runs: (query) => store.runs({ ...query, tenant: "default" }),
    run: (run) => store.run({ ...run, tenant: "default" }),
  }),
  "forgets the page": (store) => ({ runs: ({ before: _before, ...query }) => store.runs(query) }),
  "forgets the page of the inbox": (store) => ({ approvals: ({ after: _after, ...query }) => store.approvals(query) }),
  "tells questions of one millisecond apart by their ids": (store) => ({
    approvals: async ({ after, limit, ...query }) =>
      (await store.approvals(query))
        .filter((row) => after === undefined || row.requestedAt >= after.requestedAt)
        .filter((row) => after?.requestedAt !== row.requestedAt || row.approvalId > after.approvalId)
        .slice(0, limit),
  }),
  "shows paused runs to recovery": (store) => ({ unfinished: (limit, after) => store.unfinished(limit, after) }),
  "believes every pause": (store) => ({
    releaseLease: async (run, owner, pause) => {
      const head = (await store.run(run))?.head ?? 0;
      await store.releaseLease(run, owner, pause && { ...pause, head });
    },
  }),
  "never forgets a question": (store) => ({
    approvals: async (query) => (await store.approvals(query)).map((row) => ({ ...row, status: "pending" })),
  }),
  "loses a record": (store) => ({
    audit: { ...store.audit, entries: async (from, limit) => (await store.audit.entries(from, limit)).slice(1) },
  }),
  "works after close": () => ({ close: async () => undefined }),
  "tells nobody": () => ({ subscribe: () => () => undefined }),
  "says that it forgets": ({ retention }) => ({
    ...(retention && {
      retention: { ...retention, retire: (request) => retention.retire({ ...request, dryRun: true }) },
    }),
  }),
  "forgets what is still meant": (store) => ({
    ...(store.retention && {
      retention: {
        ...store.retention,
        retire: (request) => store.retention?.retire({ ...request, cutoff: Number.MAX_SAFE_INTEGER }) as never,
      },
    }),
  }),
  "keeps no blobs": () => ({ blob: async () => undefined }),
};

describe("the store suite notices a store that", () => {
  for (const [name, sabotage] of Object.entries(SABOTAGES)) {
    it(name, async () => {
      const open = async () => {
        const store = createMemoryStore();
        return { store: { ...store, ...sabotage(store) }, close: () => store.close() };
      };
      const results = await Promise.allSettled(storeConformance(open).map((conformance) => conformance.run()));
      const failed = results.filter((result) => result.status === "rejected");
      expect(failed.length).toBeGreaterThan(0);
      expect(failed.length).toBeLessThan(results.length);
    });
  }
});
