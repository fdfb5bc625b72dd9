import { appendFileSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;
const COURIER = pathToFileURL(join(import.meta.dirname, "fixtures/courier.ts")).href;
const CONFIG = `export default {
  apps: { courier: () => import(${JSON.stringify(COURIER)}) },
  people: [
    { id: "dana", name: "Dana", roles: ["approver"] },
    { id: "oli", name: "Oli", roles: ["operator"] },
  ],
};
`;

async function lostRun(): Promise<{ readonly folder: string; readonly runId: string }> {
  const folder = makeFolder({ "belay.config.mjs": CONFIG });
  const run = await belay(folder, ["run", "courier", "lose", "--json"]);
  expect(run.code).toBe(1);
  return { folder, runId: jsonOf<{ runId: string }>(run).runId };
}

it(
  "belay reconcile records what a person found out, once, and what happened can then be taken back",
  async () => {
    const { folder, runId } = await lostRun();
    expect((await belay(folder, ["runs", "--in-doubt"])).stdout).toContain(`${runId}  failed`);
    expect((await belay(folder, ["show", runId])).stdout).toContain(
      "since    in doubt: find out, then belay reconcile",
    );
    const value = '{"receipt":"R-7"}';
    const says = ["reconcile", "c1.1", "--happened", "--value", value, "--note", "seen on the doorstep"];
    const recorded = await belay(folder, [...says, "--as", "dana"]);
    expect([recorded.code, recorded.stdout]).toEqual([0, `c1.1 of run ${runId} happened: recorded\n`]);
    expect((await belay(folder, ["runs", "--in-doubt", "--json"])).stdout.trim()).toBe("[]");
    expect((await belay(folder, ["show", runId])).stdout).toMatch(
      /since {4}happened, said dana at .*: seen on the doorstep/,
    );
    const other = ["reconcile", "c1.1", "--did-not-happen", "--note", "no", "--as", "dana", "--run", runId];
    const again = await belay(folder, other);
    expect(again.code).toBe(2);
    expect(again.stderr).toMatch(
      /dana said at .* that c1\.1 happened\. The first word stands.*BELAY_CALL_NOT_IN_DOUBT/,
    );
    expect((await belay(folder, ["rollback", runId, "--by", "oli"])).code).toBe(0);
    expect(readFileSync(join(folder, ".belay/courier.db"), "utf8")).toBe(`back ${value}\n`);
    expect((await belay(folder, ["audit", "verify"])).code).toBe(0);
    expect((await belay(folder, ["doctor"])).stdout).toContain("are what the journal says");
  },
  TIMEOUT_MS,
);

it(
  "belay reconcile --lookup shows what the tool says, and records it for a person",
  async () => {
    const { folder, runId } = await lostRun();
    const early = await belay(folder, ["reconcile", "c1.1", "--lookup"]);
    expect([early.code, early.stderr]).toEqual([2, expect.stringContaining("may still be under way until")]);
    const propose = async (): Promise<string> => (await belay(folder, ["reconcile", "c1.1", "--lookup"])).stdout;
    await expect
      .poll(propose, { timeout: 40_000, interval: 3000 })
      .toBe(`c1.1 of run ${runId} did not happen, says the tool's lookup; nothing is recorded\n`);
    appendFileSync(join(folder, ".belay/courier.db"), "arrived\n");
    const recorded = await belay(folder, ["reconcile", "c1.1", "--lookup", "--as", "dana", "--json"]);
    expect(jsonOf(recorded)).toMatchObject({ runId, callId: "c1.1", status: "recorded", outcome: "happened" });
    const shown = jsonOf<{ calls: { reconciled?: object }[] }>(await belay(folder, ["show", runId, "--json"]));
    expect(shown.calls[0]?.reconciled).toMatchObject({ source: "lookup", value: { json: { receipt: "R-7" } } });
  },
  TIMEOUT_MS,
);

it(
  "belay reconcile is for approvers, and wants one outcome, a note and a call that is in doubt",
  async () => {
    const { folder } = await lostRun();
    const tried = await Promise.all(
      [
        ["reconcile", "c1.1", "--happened", "--note", "x", "--as", "oli"],
        ["reconcile", "c1.1", "--happened", "--note", "x", "--as", "agent"],
        ["reconcile", "c1.1", "--happened", "--as", "dana"],
        ["reconcile", "c1.1", "--note", "x", "--as", "dana"],
        ["reconcile", "c1.1", "--happened", "--did-not-happen", "--note", "x", "--as", "dana"],
        ["reconcile", "c1.1", "--did-not-happen", "--value", "1", "--note", "x", "--as", "dana"],
        ["reconcile", "c1.1", "--happened", "--value", "{", "--note", "x", "--as", "dana"],
        ["reconcile", "c9.9", "--happened", "--note", "x", "--as", "dana"],
      ].map((args) => belay(folder, args)),
    );
    expect(tried.map(({ code, stderr }) => [code, /\((BELAY_\w+)\)\s*$/.exec(stderr)?.[1]])).toEqual([
      [2, "BELAY_NOT_PERMITTED"],
      [2, "BELAY_NOT_PERMITTED"],
      [2, "BELAY_USAGE"],
      [2, "BELAY_USAGE"],
      [2, "BELAY_USAGE"],
      [2, "BELAY_USAGE"],
      [2, "BELAY_USAGE"],
      [2, "BELAY_CALL_NOT_IN_DOUBT"],
    ]);
    expect(jsonOf<unknown[]>(await belay(folder, ["runs", "--in-doubt", "--json"]))).toHaveLength(1);
  },
  TIMEOUT_MS,
);
