import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { fileURLToPath } from "node:url";
import { expect, it } from "vitest";
import { openSqliteStore, rebuildProjections } from "../../../src/adapters/sqlite/index.ts";
import { type Store, verifyStoreAudit } from "../../../src/journal/index.ts";
import { temporaryFolder } from "./temporary-folder.ts";

const COMMITTER = fileURLToPath(new URL("./children/committer.ts", import.meta.url));
const RUN = { tenant: "default", runId: "shared" };

interface Committer {
  readonly child: ChildProcess;
  /** Lines printed so far, each an acknowledged event: its number and text. */
  lines(): readonly string[];
  readonly ended: Promise<unknown>;
}

function startCommitter(path: string, name: string, count: number): Committer {
  const child = spawn(process.execPath, ["--conditions=belay-source", COMMITTER, path, name, String(count)], {
    stdio: ["ignore", "pipe", "inherit"],
  });
  let printed = "";
  child.stdout?.setEncoding("utf8").on("data", (text: string) => {
    printed += text;
  });
  // Whole lines only: the last one may be cut off by the kill.
  return { child, lines: () => printed.split("\n").slice(0, -1), ended: once(child, "close") };
}

async function storedTexts(store: Store): Promise<readonly string[]> {
  return (await store.read(RUN)).map(({ seq, event }) => {
    const isFinal = event.type === "model.replied" && event.output.kind === "final";
    return `${seq} ${isFinal ? event.output.text : "start"}`;
  });
}

it("two processes commit to one file and one run, and no event is lost or doubled", async () => {
  const path = join(temporaryFolder(), "store.db");
  const committers = [startCommitter(path, "one", 60), startCommitter(path, "two", 60)];
  const ends = await Promise.all(committers.map((committer) => committer.ended));
  expect(ends).toEqual([
    [0, null],
    [0, null],
  ]);
  await using store = await openSqliteStore(path);
  const acknowledged = committers.flatMap((committer) => committer.lines());
  const stored = await storedTexts(store);
  expect(stored).toHaveLength(121);
  expect(stored.toSorted()).toEqual(acknowledged.toSorted());
  expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
}, 60_000);

it("after kill -9 in the middle every acknowledged event is there, the log verifies and work goes on", async () => {
  const path = join(temporaryFolder(), "store.db");
  for (const round of [1, 2, 3]) {
    const committer = startCommitter(path, `round-${round}`, 1_000_000);
    while (committer.lines().length < 20 * round) {
      await new Promise((resolve) => setTimeout(resolve, 3));
    }
    committer.child.kill("SIGKILL");
    await committer.ended;
    await using store = await openSqliteStore(path);
    const stored = await storedTexts(store);
    expect(stored).toEqual(expect.arrayContaining([...committer.lines()]));
    expect(stored.length - committer.lines().length).toBeGreaterThanOrEqual(0);
    expect((await store.run(RUN))?.head).toBe(stored.length);
    expect(await verifyStoreAudit(store)).toMatchObject({ ok: true });
    expect(await rebuildProjections(store)).toEqual([]);
  }
}, 60_000);
