import { hash } from "node:crypto";
import fc from "fast-check";
import { expect, it } from "vitest";
import { canonicalJson } from "../../src/audit/index.ts";
import { createMemoryStore, JOURNAL_GENESIS, journalLink } from "../../src/journal/index.ts";
import * as sample from "../../src/testing/index.ts";
import { playHistory, randomHistory } from "./random-history.ts";

const anyLine = fc.record({ seq: fc.nat(), at: fc.nat(), schema: fc.nat(9), text: fc.string() });

it("a link is the hash of the one before and the canonical JSON of the event's place, time, schema and text hash", () => {
  fc.assert(
    fc.property(anyLine, ({ seq, at, schema, text }) => {
      const event = hash("sha256", text);
      const expected = hash("sha256", JOURNAL_GENESIS + canonicalJson({ seq, at, schema, event }));
      expect(journalLink(JOURNAL_GENESIS, { seq, at, schema, textHash: event })).toBe(expected);
    }),
  );
});

it("every audit record holds the link of its event, over everything before it", async () => {
  await fc.assert(
    fc.asyncProperty(randomHistory, async (history) => {
      const store = createMemoryStore();
      await playHistory(store, history);
      const links = new Map<string, string>();
      let [run, link] = ["", JOURNAL_GENESIS];
      for await (const { run: key, seq, at, schema, text } of store.audit.lines()) {
        const name = JSON.stringify([key.tenant, key.runId]);
        link = journalLink(name === run ? link : JOURNAL_GENESIS, { seq, at, schema, textHash: hash("sha256", text) });
        run = name;
        links.set(JSON.stringify([key.tenant, key.runId, seq]), link);
      }
      for (const { text } of await store.audit.entries(0, 1000)) {
        const record = JSON.parse(text);
        expect(record.journalHash).toBe(links.get(JSON.stringify([record.tenant, record.run, record.seq])));
      }
    }),
    { numRuns: 30 },
  );
});

it("an event that nobody vouches for yet is covered by the next record", async () => {
  const run = { tenant: "default", runId: "run-1" };
  const recordsOf = async (worker: string) => {
    const store = createMemoryStore();
    const events = [sample.runStarted(), { type: "segment.started", worker, fence: 1 } as const, sample.runEnded()];
    await store.commit({ run, head: 0, entries: events.map((event) => ({ at: sample.SAMPLE_AT, event })) });
    return (await store.audit.entries(0, 10)).map(({ text }) => JSON.parse(text));
  };
  const [one, other] = [await recordsOf("w"), await recordsOf("v")];
  expect(one[0]).toEqual(other[0]);
  expect(one[1].eventHash).toBe(other[1].eventHash);
  expect(one[1].journalHash).not.toBe(other[1].journalHash);
});
