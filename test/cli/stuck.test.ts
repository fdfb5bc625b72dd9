import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import { approvalRequested, approvalResolved, repliedCalls, runStarted, sampleCall } from "../../src/testing/index.ts";
import { belay, makeFolder } from "./belay.ts";

it("belay doctor fails for a yes that nobody acts on, and for a run that nobody goes on with", async () => {
  const folder = makeFolder();
  mkdirSync(join(folder, ".belay"), { recursive: true });
  const minutes = (count: number) => Date.now() - count * 60_000;
  const asked = [runStarted(), repliedCalls(sampleCall("c-1")), approvalRequested("c-1", "apr-1")];
  const runs = {
    approved: { at: minutes(3), events: [...asked, approvalResolved("c-1", "apr-1", "approved")] },
    begun: { at: minutes(3), events: [runStarted(), repliedCalls(sampleCall("c-1"))] },
    new: { at: minutes(0.5), events: [runStarted()] },
  };
  await using store = await openSqliteStore(join(folder, ".belay/belay.db"));
  for (const [runId, { at, events }] of Object.entries(runs).sort(([, one], [, other]) => one.at - other.at)) {
    const entries = events.map((event) => ({ at, event }));
    await store.commit({ run: { tenant: "default", runId }, head: 0, entries });
  }
  const doctor = await belay(folder, ["doctor"]);
  expect(doctor.code).toBe(1);
  const [line = ""] = doctor.stdout.split("\n").filter((each) => each.includes("stuck runs"));
  expect(line).toMatch(
    /^fail {2}stuck runs +approved \(answered by a person and not acted on for 3 min\)\. Start a worker/,
  );
  expect(line).not.toContain("begun");
}, 60_000);
