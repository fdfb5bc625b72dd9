import { mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { expect, it } from "vitest";
import shop from "../../../apps/shop/index.ts";
import { runSuite, toJson } from "../../../src/evals/index.ts";
import { testConsole } from "./support.ts";

const folderWith = (files: Readonly<Record<string, unknown>>): string => {
  const folder = mkdtempSync(join(tmpdir(), "belay-results-"));
  for (const [name, value] of Object.entries(files)) {
    writeFileSync(join(folder, name), typeof value === "string" ? value : JSON.stringify(value));
  }
  return folder;
};

const show = async (resultsFolder: string): Promise<string> =>
  (await testConsole({ resultsFolder }).get("/evaluations")).text();

it("shows what the evaluation command prints, its trend and which controls were needed", async () => {
  const only = ["H01", "B02", "B03", "B06"];
  const result = toJson(await runSuite(shop, "reference", { only }), { baseline: 1, maxDrop: 0 });
  const without = toJson(await runSuite(shop, "reference", { only, without: ["rule:auto_limit"] }));
  const worse = { ...result, success: { passed: 3, total: 4, interval: { low: 0.3, high: 0.95 } } };
  const text = await show(
    folderWith({
      "1.json": { ...worse, at: "2026-01-01T00:00:00Z" },
      "2.json": { ...result, at: "2026-01-03T00:00:00Z" },
      "3.json": [{ ...without, at: "2026-01-04T00:00:00Z" }],
    }),
  );
  expect(text).toContain("4 of 4 (100.0 %)");
  expect(text).toContain("gate passed");
  expect(text).toContain("Task success in per cent. 2026-01-01: 75 %, 2026-01-03: 100 %");
  expect(text).toContain("1 of 1 controls make at least one case fail.");
  expect(text).toContain("B02");
  expect(text.match(/<svg/g)?.length).toBeGreaterThan(2);
});

it("shows a document of results, a suite at a time, and a whole kill matrix", async () => {
  const repeats = [{ passed: true }, { passed: false, reasons: ["said too much"] }];
  const document = {
    schema: "belay.evals/1",
    subject: { app: "stockroom" },
    without: [],
    date: "2026-02-01T10:00:00Z",
    cases: [
      { suite: "golden", id: "G1", class: "basic", repeats: [{ passed: true }] },
      { suite: "golden", id: "G2", class: "basic", repeats },
      { suite: "guards", id: "X1", class: "limits", repeats: [{ passed: true }] },
    ],
  };
  const matrix = {
    app: "stockroom",
    cases: ["golden G1", "golden G2"],
    failing: ["golden G2"],
    rows: [
      { control: "guard:unneeded", killedBy: [], isByProbeAlone: false },
      { control: "rule:needed", killedBy: ["golden G1"], isByProbeAlone: false },
      { control: "guard:idle", idle: "no tool changes anything", killedBy: [], isByProbeAlone: false },
    ],
  };
  const text = await show(folderWith({ "document.json": document, "matrix.json": matrix }));
  expect(text).toContain("stockroom, suite golden");
  expect(text).toContain("1 of 2 (50.0 %)");
  expect(text).toContain("said too much");
  expect(text).toContain("stockroom, suite guards");
  expect(text).toContain("1 of 2 controls make at least one case fail.");
  expect(text).toContain("Cases fail with every control in place");
  expect(text).toContain("no tool changes anything");
  const places = ["rule:needed", "guard:unneeded", "guard:idle"].map((control) => text.indexOf(control));
  expect(places.toSorted((one, other) => one - other)).toEqual(places);
});

it("passes over what is no result and says so, and shows hostile names as text", async () => {
  const hostile = { app: "<script>alert(1)</script>", suite: "\u202Ereference", success: { passed: 1, total: 2 } };
  const text = await show(
    folderWith({ "broken.json": "{", "other.json": { hello: 1 }, "notes.txt": "x", "hostile.json": hostile }),
  );
  expect(text).toContain("broken.json, other.json");
  expect(text).not.toContain("<script>alert");
  expect(text).toContain("[U+202E]reference");
  expect(text).toContain("1 of 2 (50.0 %)");
});

it("has words for a folder that is empty or missing", async () => {
  expect(await show(folderWith({}))).toContain("There are no stored results yet.");
  expect(await show("/no/such/folder")).toContain("There are no stored results yet.");
});
