import { execFileSync, spawnSync } from "node:child_process";
import { createHash } from "node:crypto";
import { mkdtempSync, readdirSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished } from "vitest";
import { canonicalJson } from "../../src/audit/index.ts";
import type { Principal } from "../../src/core/index.ts";
import { auditRecordOf, decodeLine, JOURNAL_GENESIS, journalLink } from "../../src/journal/index.ts";
import { type Expected, expectedOf, type GoldenLine, goldenLines, journalLine } from "./golden.ts";
import { SCENARIOS } from "./scenarios.ts";

const FOLDER = import.meta.dirname;
const versions = readdirSync(FOLDER, { withFileTypes: true }).flatMap((entry) =>
  entry.isDirectory() ? entry.name : [],
);

const sha256 = (text: string): string => createHash("sha256").update(text).digest("hex");

function readLines(version: string, name: string): readonly GoldenLine[] {
  const text = readFileSync(join(FOLDER, version, `${name}.jsonl`), "utf8");
  return text
    .split("\n")
    .filter((line) => line !== "")
    .map((line) => JSON.parse(line) as GoldenLine);
}

/** The audit records that today's code makes of stored lines. */
function recordsOf(lines: readonly GoldenLine[]): readonly (string | null)[] {
  const links = new Map<string, { journalHash: string; isAfterEnd: boolean; principal?: Principal }>();
  return lines.map((line) => {
    const { run, seq, at, schema, text } = line;
    const link = links.get(run) ?? { journalHash: JOURNAL_GENESIS, isAfterEnd: false };
    links.set(run, link);
    const entry = decodeLine(journalLine(line));
    const { event } = entry;
    if (event.type === "run.started") link.principal = event.principal;
    const eventHash = sha256(text);
    link.journalHash = journalLink(link.journalHash, { seq, at, schema, textHash: eventHash });
    const { journalHash, isAfterEnd, principal = { kind: "system", id: "nobody" } } = link;
    link.isAfterEnd ||= event.type === "run.ended";
    const key = { tenant: line.tenant, runId: run };
    const record = auditRecordOf({ run: key, seq, entry, eventHash, journalHash, isAfterEnd, principal });
    return record === undefined ? null : canonicalJson(record);
  });
}

it("there are golden journals of a version, of every kind", () => {
  expect(versions.length).toBeGreaterThan(0);
});

for (const version of versions) {
  const expected = JSON.parse(readFileSync(join(FOLDER, version, "expected.json"), "utf8")) as Record<string, Expected>;
  const names = readdirSync(join(FOLDER, version)).flatMap((file) =>
    file.endsWith(".jsonl") ? file.slice(0, -6) : [],
  );

  describe(`journals of version ${version}`, () => {
    it("are all there", () => {
      expect(names.sort()).toEqual(Object.keys(expected).sort());
    });

    for (const name of names) {
      it(`${name} is read, folds to what it came to, and has the audit records that it had`, () => {
        const lines = readLines(version, name);
        const found = expectedOf(lines);
        expect(found.runs).toEqual(expected[name]?.runs);
        expect(found.digest).toBe(expected[name]?.digest);
        expect(recordsOf(lines)).toEqual(lines.map(({ record }) => record));
      });
    }
  });
}

describe("golden journals", () => {
  it("are what the harness writes today, in kind: paused, finished, in doubt, reconciled, rolled back, compacted, retried", async () => {
    for (const [name, make] of Object.entries(SCENARIOS)) {
      const lines = await goldenLines((await make()).options.store);
      expect(lines.length, name).toBeGreaterThan(3);
      expect(recordsOf(lines), name).toEqual(lines.map(({ record }) => record));
    }
  });

  it("are written once for a version", () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-golden-"));
    onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
    const script = join(FOLDER, "../../scripts/write-golden-journals.ts");
    const args = ["--conditions=belay-source", script, folder];
    execFileSync(process.execPath, args);
    const [version = ""] = readdirSync(folder);
    const before = readFileSync(join(folder, version, "expected.json"), "utf8");
    const again = spawnSync(process.execPath, args, { encoding: "utf8" });
    expect([again.status, again.stderr]).toEqual([1, expect.stringContaining("stays as it is")]);
    expect(readFileSync(join(folder, version, "expected.json"), "utf8")).toBe(before);
  });
});
