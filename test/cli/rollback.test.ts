import { readFileSync } from "node:fs";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { expect, it } from "vitest";
import type { UndoReport } from "../../src/gate/index.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;
const LEDGER = pathToFileURL(join(import.meta.dirname, "fixtures/ledger.ts")).href;
const CONFIG = `export default {
  apps: { ledger: () => import(${JSON.stringify(LEDGER)}) },
  people: [
    { id: "dana", name: "Dana", roles: ["approver"] },
    { id: "oli", name: "Oli", roles: ["operator"] },
    { id: "vik", name: "Vik", roles: ["viewer"] },
  ],
};
`;

it(
  "belay rollback takes a run back, stops for a person, goes on after belay approve, and does nothing twice",
  async () => {
    const folder = makeFolder({ "belay.config.mjs": CONFIG });
    const lines = () =>
      (JSON.parse(readFileSync(join(folder, ".belay/ledger.db"), "utf8")) as [string, string][]).map(
        ([, line]) => line,
      );
    const { runId } = jsonOf<{ runId: string }>(await belay(folder, ["run", "ledger", "pay both", "--json"]));
    const asked = await belay(folder, ["rollback", runId, "--by", "oli"]);
    expect([asked.code, asked.stderr]).toEqual([0, ""]);
    expect(asked.stdout).toMatch(/c2\.1 {2}waiting {5}pay\n {7}UNDO: look first\n {2}1 {2}c1\.1 {2}blocked/);
    expect(lines()).toEqual(["pay ann", "pay bob"]);
    const approvalId = /apr_\w+/.exec(asked.stdout)?.[0] ?? "none";
    expect((await belay(folder, ["approve", approvalId, "--by", "dana"])).code).toBe(0);
    expect(lines()).toEqual(["pay ann", "pay bob", "unpay bob"]);
    for (let again = 0; again < 2; again += 1) {
      const report = jsonOf<UndoReport>(await belay(folder, ["rollback", runId, "--by", "oli", "--json"]));
      expect(report.isWhole).toBe(true);
      expect(report.calls.map(({ callId, status }) => [callId, status])).toEqual([
        ["c2.1", "undone"],
        ["c1.1", "undone"],
      ]);
    }
    expect(lines()).toEqual(["pay ann", "pay bob", "unpay bob", "unpay ann"]);
    expect((await belay(folder, ["audit", "verify"])).code).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  "asks who wants it, for a step that is a number, and for a run that there is",
  async () => {
    const folder = makeFolder({ "belay.config.mjs": CONFIG });
    const { runId } = jsonOf<{ runId: string }>(await belay(folder, ["run", "ledger", "pay both", "--json"]));
    const tried = await Promise.all(
      [
        ["rollback", runId],
        ["rollback", runId, "--by", "vik"],
        ["rollback", runId, "--by", "oli", "--to", "x"],
        ["rollback", "run_none", "--by", "oli"],
      ].map((args) => belay(folder, args)),
    );
    expect(tried.map(({ code, stderr }) => [code, /BELAY_\w+/.exec(stderr)?.[0]])).toEqual([
      [2, "BELAY_USAGE"],
      [2, "BELAY_NOT_PERMITTED"],
      [2, "BELAY_USAGE"],
      [2, "BELAY_RUN_UNKNOWN"],
    ]);
    const kept = jsonOf<UndoReport>(await belay(folder, ["rollback", runId, "--by", "oli", "--to", "2", "--json"]));
    expect(kept.calls).toEqual([]);
  },
  TIMEOUT_MS,
);
