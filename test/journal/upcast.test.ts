import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterEach, describe, expect, it, onTestFinished, vi } from "vitest";
import { EVENT_SCHEMA, type EventJson, fold, UPCASTERS, type Upcaster } from "../../src/core/index.ts";
import type { JournalLine } from "../../src/journal/index.ts";
import { decodeWith } from "../../src/journal/stored-entry.ts";
import {
  callDecided,
  repliedCalls,
  repliedFinal,
  runEnded,
  runStarted,
  SAMPLE_AT,
  sampleCall,
} from "../../src/testing/index.ts";

const RUN = { tenant: "default", runId: "r" };
const line = (text: string, schema: number): JournalLine => ({ run: RUN, seq: 1, at: SAMPLE_AT, schema, text });

afterEach(() => {
  vi.doUnmock("../../src/core/upcast.ts");
  vi.resetModules();
});

describe("the chain of upcasters", () => {
  const add =
    (name: string): Upcaster =>
    (event) => ({ ...event, path: `${String(event["path"] ?? "")}${name}` });
  const chain = [add("a"), add("b")];
  const pathOf = (schema: number) => (decodeWith(line("{}", schema), chain) as unknown as EventJson)["path"];

  it("brings each schema to today's, step by step, and leaves today's alone", () => {
    expect([pathOf(1), pathOf(2), pathOf(3)]).toEqual(["ab", "b", undefined]);
  });

  it("refuses what is newer than the code, what is no schema, and what a step cannot read", () => {
    expect(() => pathOf(4)).toThrow(expect.objectContaining({ code: "BELAY_JOURNAL_TOO_NEW" }));
    for (const schema of [0, -1, 1.5, Number.NaN]) {
      expect(() => pathOf(schema), String(schema)).toThrow(expect.objectContaining({ code: "BELAY_STORE_CORRUPT" }));
    }
    const throws: Upcaster = () => {
      throw new Error("what is this");
    };
    expect(() => decodeWith(line("{}", 1), [throws])).toThrow(expect.objectContaining({ code: "BELAY_STORE_CORRUPT" }));
    expect(() => decodeWith(line("{", 1), [])).toThrow(expect.objectContaining({ code: "BELAY_STORE_CORRUPT" }));
  });

  it("has one step for each schema before today's", () => {
    expect(EVENT_SCHEMA).toBe(UPCASTERS.length + 1);
  });
});

/** As if verdicts had been called differently and costs had been dollars before schema 2. */
function downgraded(event: object): string {
  const { costNanoUsd, ...rest } = event as EventJson;
  return JSON.stringify(typeof costNanoUsd === "number" ? { ...rest, costUsd: costNanoUsd / 1e9 } : rest);
}

const fromDollars: Upcaster = ({ costUsd, ...event }) =>
  typeof costUsd === "number" ? { ...event, costNanoUsd: Math.round(costUsd * 1e9) } : event;

it("a journal of an older shape folds to the state of the same journal in today's", () => {
  const replied = { ...repliedCalls(sampleCall("c-1")), costNanoUsd: 1_234_567 };
  const requested = { type: "model.requested", reserved: { inputTokens: 1, outputTokens: 1, costNanoUsd: 9 } } as const;
  const events = [runStarted(), requested, replied, callDecided("c-1")];
  const today = fold(events.map((event) => ({ at: SAMPLE_AT, event })));
  const texts = events.map(downgraded);
  const before = [...texts];
  const older = fold(texts.map((text) => ({ at: SAMPLE_AT, event: decodeWith(line(text, 1), [fromDollars]) })));
  expect(older).toEqual(today);
  expect(older?.usage.costNanoUsd).toBe(1_234_567);
  expect(texts).toEqual(before);
});

/** The SQLite store as a version with one schema more would have it. */
async function nextVersion() {
  vi.resetModules();
  vi.doMock("../../src/core/upcast.ts", async (original) => ({
    ...(await original<typeof import("../../src/core/upcast.ts")>()),
    UPCASTERS: [
      (event: EventJson): EventJson => (event["type"] === "run.started" ? { ...event, onReject: "end_run" } : event),
    ],
  }));
  return storeModules();
}

async function storeModules() {
  const { openSqliteStore } = await import("../../src/adapters/sqlite/index.ts");
  const { verifyStoreAudit } = await import("../../src/journal/index.ts");
  const { EVENT_SCHEMA: schema } = await import("../../src/core/index.ts");
  return { openSqliteStore, verifyStoreAudit, schema };
}

it("a later version reads the store of an earlier one, appends its own schema, and rewrites no byte; the earlier one refuses it", async () => {
  const folder = mkdtempSync(join(tmpdir(), "belay-upcast-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  const path = join(folder, "store.db");
  const at = SAMPLE_AT;
  const linesOf = async (store: { audit: { lines(): AsyncIterable<JournalLine> } }) => {
    const lines: JournalLine[] = [];
    for await (const each of store.audit.lines()) lines.push(each);
    return lines;
  };

  const earlier = await storeModules();
  const first = await earlier.openSqliteStore(path);
  await first.commit({ run: RUN, head: 0, entries: [{ at, event: runStarted() }] });
  const stored = await linesOf(first);
  await first.close();

  const later = await nextVersion();
  expect(later.schema).toBe(earlier.schema + 1);
  const second = await later.openSqliteStore(path);
  const entries = [repliedFinal("done"), runEnded()].map((event) => ({ at, event }));
  await second.commit({ run: RUN, head: 1, entries });
  const read = await second.read(RUN);
  expect(read.map(({ schema }) => schema - earlier.schema)).toEqual([0, 1, 1]);
  expect(read[0]?.event).toMatchObject({ onReject: "end_run" });
  expect((await linesOf(second))[0]).toEqual(stored[0]);
  expect(await later.verifyStoreAudit(second)).toMatchObject({ ok: true });
  await second.close();

  vi.doUnmock("../../src/core/upcast.ts");
  vi.resetModules();
  const back = await storeModules();
  const third = await back.openSqliteStore(path);
  await expect(third.read(RUN)).rejects.toMatchObject({ code: "BELAY_JOURNAL_TOO_NEW" });
  await third.close();
  expect(readFileSync(path).includes(stored[0]?.text ?? "?")).toBe(true);
});
