import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { RunEvent } from "../../src/core/index.ts";
import * as sample from "../../src/testing/index.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";

interface Printed {
  readonly dryRun: boolean;
  readonly runs: number;
  readonly events: number;
  readonly bytes: number;
  readonly kept: Readonly<Record<string, number>>;
}

const ENDING: readonly RunEvent[] = [
  { type: "model.requested", reserved: { inputTokens: 1, outputTokens: 1, costNanoUsd: 1 } },
  sample.repliedFinal("done"),
  sample.runEnded(),
];

async function folderWithOldRuns(): Promise<string> {
  const folder = makeFolder();
  mkdirSync(join(folder, ".belay"));
  await using store = await openSqliteStore(join(folder, ".belay", "belay.db"));
  for (const [runId, events] of Object.entries({ ended: ENDING, running: [] })) {
    const entries = [sample.runStarted("default", runId), ...events].map((event) => ({ at: sample.SAMPLE_AT, event }));
    await store.commit({ run: { tenant: "default", runId }, head: 0, entries });
  }
  return folder;
}

it("gc says what it would remove, removes it, and doctor and audit verify agree with what is left", async () => {
  const folder = await folderWithOldRuns();
  const dry = await belay(folder, ["gc", "--older-than", "30d", "--dry-run"]);
  expect(dry).toMatchObject({ code: 0, stderr: "" });
  expect(dry.stdout).toMatch(
    /^would be removed: 4 events of 1 runs, 0 blobs, [0-9]+ bytes\nkept: 1 older runs, because it is not over\n$/,
  );
  const removed = jsonOf<Printed>(await belay(folder, ["gc", "--older-than", "30d", "--json"]));
  expect(removed).toMatchObject({ dryRun: false, runs: 1, events: 4, kept: { "it is not over": 1 } });
  expect(jsonOf<Printed>(await belay(folder, ["gc", "--older-than", "30d", "--json"])).runs).toBe(0);
  expect((await belay(folder, ["audit", "verify"])).code).toBe(0);
  const doctor = await belay(folder, ["doctor", "--json"]);
  const { checks } = jsonOf<{ readonly checks: readonly { readonly name: string; readonly status: string }[] }>(doctor);
  const status = (wanted: string) => checks.find(({ name }) => name === wanted)?.status;
  expect([status("audit log"), status("derived tables")]).toEqual(["ok", "ok"]);
});

it.each([
  [[]],
  [["--older-than", "0d"]],
  [["--older-than", "90"]],
  [["--older-than", "-1d"]],
  [["--older-than", "1.5d"]],
])("gc %j is refused and removes nothing", async (args) => {
  const folder = await folderWithOldRuns();
  const { code, stderr } = await belay(folder, ["gc", ...args]);
  expect(code).toBe(2);
  expect(stderr).toContain("--older-than");
  const printed = jsonOf<Printed>(await belay(folder, ["gc", "--older-than", "30d", "--dry-run", "--json"]));
  expect(printed.runs).toBe(1);
});
