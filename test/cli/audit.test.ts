import { chmodSync, copyFileSync, statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { DatabaseSync } from "node:sqlite";
import { describe, expect, it } from "vitest";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;

async function folderWithRun(): Promise<string> {
  const folder = makeFolder();
  await belay(folder, ["run", "bank", "pay 50 to alice"]);
  return folder;
}

describe("belay audit", () => {
  it(
    "verifies, and names the record that was changed in a copy",
    async () => {
      const folder = await folderWithRun();
      const intact = await belay(folder, ["audit", "verify"]);
      expect([intact.code, intact.stdout]).toEqual([
        0,
        expect.stringMatching(/^audit log intact: \d+ records, root [0-9a-f]{64}\n/),
      ]);

      copyFileSync(join(folder, ".belay/belay.db"), join(folder, "copy.db"));
      const copy = new DatabaseSync(join(folder, "copy.db"));
      const changed = copy.prepare("UPDATE audit SET text = replace(text, '50', '51') WHERE seq = 1").run();
      copy.close();
      expect(changed.changes).toBe(1);
      const broken = await belay(folder, ["audit", "verify", "--db", "copy.db"]);
      expect([broken.code, broken.stdout]).toEqual([
        1,
        expect.stringContaining("audit log NOT intact: changed at record 1: "),
      ]);
      const json = await belay(folder, ["audit", "verify", "--db", "copy.db", "--json"]);
      expect([json.code, jsonOf(json)]).toEqual([
        1,
        expect.objectContaining({ ok: false, problem: "changed", seq: 1 }),
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    "signs checkpoints with a key of its own, and holds the log against them",
    async () => {
      const folder = await folderWithRun();
      const signed = await belay(folder, ["audit", "checkpoint", "--json"]);
      const { note, verifierKey, size } = jsonOf<{ note: string; verifierKey: string; size: number }>(signed);
      expect(statSync(join(folder, ".belay/audit-key.pem")).mode & 0o777).toBe(0o600);
      expect(statSync(join(folder, ".belay")).mode & 0o777).toBe(0o700);
      writeFileSync(join(folder, "kept.note"), note);
      await belay(folder, ["run", "bank", "hi"]);
      const again = await belay(folder, ["audit", "verify", "--json"]);
      expect(jsonOf(again)).toMatchObject({ ok: true, anchoredSize: size });

      // Another log, which never held those records.
      const other = await folderWithRun();
      const foreign = ["audit", "verify", "--db", join(other, ".belay/belay.db"), "--checkpoint", "kept.note"];
      const keyless = await belay(folder, foreign);
      expect([keyless.code, keyless.stderr]).toEqual([2, expect.stringContaining("Give --key <key>. (BELAY_USAGE)")]);
      const rewritten = await belay(folder, [...foreign, "--key", verifierKey]);
      expect([rewritten.code, rewritten.stdout]).toEqual([1, expect.stringContaining("root_mismatch at record ")]);
      const lonely = await belay(folder, ["audit", "verify", "--key", verifierKey]);
      expect([lonely.code, lonely.stderr]).toEqual([
        2,
        expect.stringContaining("Give --checkpoint <file> too. (BELAY_USAGE)"),
      ]);
      const badKey = await belay(folder, [...foreign, "--key", "nonsense"]);
      expect([badKey.code, badKey.stderr]).toEqual([2, expect.stringContaining("(BELAY_AUDIT_INVALID)")]);
    },
    TIMEOUT_MS,
  );

  it(
    "exports both formats, and verifies the exports",
    async () => {
      const folder = await folderWithRun();
      for (const format of ["jsonl", "chain"]) {
        const { stdout } = await belay(folder, ["audit", "export", "--format", format]);
        writeFileSync(join(folder, "export"), stdout);
        const intact = await belay(folder, ["audit", "verify", "--file", "export"]);
        expect([format, intact.code]).toEqual([format, 0]);
        writeFileSync(join(folder, "export"), stdout.replace("alice", "mallory"));
        const broken = await belay(folder, ["audit", "verify", "--file", "export"]);
        expect([format, broken.code, broken.stdout]).toEqual([
          format,
          1,
          expect.stringMatching(/NOT intact: (changed at record 1|bad_line at line 2)/),
        ]);
      }
      writeFileSync(join(folder, "export"), "\u001b[2Jnot json\n");
      const junk = await belay(folder, ["audit", "verify", "--file", "export"]);
      expect([junk.code, junk.stdout]).toEqual([1, expect.stringContaining("unreadable at record 0")]);
      const missing = await belay(folder, ["audit", "verify", "--file", "nope"]);
      expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("(BELAY_FILE_UNREADABLE)")]);
    },
    TIMEOUT_MS,
  );

  it(
    "shows records",
    async () => {
      const folder = await folderWithRun();
      const one = await belay(folder, ["audit", "show", "1"]);
      expect(jsonOf(one)).toMatchObject({
        seq: 1,
        leaf: expect.stringMatching(/^[0-9a-f]{64}$/),
        record: { type: "call.requested" },
      });
      const all = await belay(folder, ["audit", "show"]);
      expect(all.stdout.split("\n")[0]).toMatch(/^ {5}0 {2}\{.*"type":"run.started"/);
      const none = await belay(folder, ["audit", "show", "99"]);
      expect([none.code, none.stderr]).toEqual([2, expect.stringContaining("(BELAY_AUDIT_RECORD_UNKNOWN)")]);
    },
    TIMEOUT_MS,
  );
});

describe("an edit of the database", () => {
  const edit = (folder: string, sql: string): void => {
    const database = new DatabaseSync(join(folder, ".belay/belay.db"));
    database.exec(sql);
    database.close();
  };

  it(
    "of the inbox is marked where people read it, found by the verification and mended from the journal",
    async () => {
      const folder = makeFolder();
      await belay(folder, ["run", "bank", "pay 5000 to alice"]);
      expect((await belay(folder, ["approvals"])).code).toBe(0);
      edit(folder, "UPDATE approvals SET args = replace(args, '5000', '5')");
      const shown = await belay(folder, ["approvals"]);
      expect([shown.code, shown.stdout]).toEqual([1, expect.stringMatching(/ {2}TAMPERED {2}run .*\n.*Do not answer/)]);
      const json = await belay(folder, ["approvals", "--json"]);
      expect([json.code, jsonOf(json)]).toEqual([1, [expect.objectContaining({ isIntact: false })]]);
      const verified = await belay(folder, ["audit", "verify"]);
      expect([verified.code, verified.stdout]).toEqual([
        1,
        expect.stringMatching(/NOT intact: projection_differs: row default\/\S+ of the table approvals/),
      ]);
      expect((await belay(folder, ["doctor"])).code).toBe(1);
      const mended = await belay(folder, ["doctor", "--rebuild"]);
      expect([mended.code, mended.stdout]).toEqual([
        0,
        expect.stringMatching(/ok .*derived tables .*derived again: approvals/),
      ]);
      expect((await belay(folder, ["approvals"])).stdout).toContain("5000");
      expect((await belay(folder, ["audit", "verify"])).code).toBe(0);
    },
    TIMEOUT_MS,
  );

  it(
    "of the journal is named, and nothing is derived from it",
    async () => {
      const folder = await folderWithRun();
      edit(folder, `UPDATE journal SET at = at - 1 WHERE event LIKE '%"type":"model.requested"%'`);
      edit(folder, "UPDATE runs SET answer = 'forged'");
      const verified = await belay(folder, ["audit", "verify"]);
      expect([verified.code, verified.stdout]).toEqual([1, expect.stringContaining("journal_differs at record")]);
      const { code, stdout } = await belay(folder, ["doctor", "--rebuild", "--json"]);
      const { ok, checks } = JSON.parse(stdout) as {
        ok: boolean;
        checks: { name: string; status: string; detail: string }[];
      };
      expect([code, ok]).toEqual([1, false]);
      const found = Object.fromEntries(checks.map(({ name, status, detail }) => [name, `${status} ${detail}`]));
      expect(found).toMatchObject({
        database: expect.stringMatching(/^ok SQLite finds no damage; format 3, journal mode wal/),
        "audit log": expect.stringMatching(/^fail journal_differs: /),
        "derived tables": expect.stringMatching(/^fail .*not rebuilt, because the journal is not intact/),
        clock: expect.stringMatching(/^ok/),
        versions: expect.stringMatching(/^ok Node.js v\d+.*SQLite 3\./),
      });
    },
    TIMEOUT_MS,
  );
});

describe("belay doctor", () => {
  it(
    "warns of a missing checkpoint and of open files, and fails on a clock that is behind and on an open key",
    async () => {
      const folder = await folderWithRun();
      const first = await belay(folder, ["doctor"]);
      expect([first.code, first.stdout]).toEqual([0, expect.stringMatching(/warn .*signing key .*audit checkpoint/)]);
      await belay(folder, ["audit", "checkpoint"]);
      chmodSync(join(folder, ".belay/audit-key.pem"), 0o644);
      chmodSync(join(folder, ".belay/belay.db"), 0o644);
      const second = await belay(folder, ["doctor"]);
      expect([second.code, second.stdout]).toEqual([1, expect.stringMatching(/fail .*signing key .*chmod 600/)]);
      expect(second.stdout).toMatch(/warn .*file rights .*belay\.db/);
      expect(second.stdout).toMatch(/(ok|warn) .*disk space .*GB free/);
    },
    TIMEOUT_MS,
  );

  it(
    "says why a database cannot be opened, and refuses one that is not there",
    async () => {
      const folder = makeFolder();
      writeFileSync(join(folder, "text.db"), "this is not a database".repeat(500));
      const damaged = await belay(folder, ["doctor", "--db", "text.db"]);
      expect([damaged.code, damaged.stdout]).toEqual([
        1,
        expect.stringMatching(/fail .*database .*BELAY_STORE_CORRUPT/),
      ]);
      const missing = await belay(folder, ["doctor", "--db", "nope.db"]);
      expect([missing.code, missing.stderr]).toEqual([2, expect.stringContaining("(BELAY_STORE_MISSING)")]);
    },
    TIMEOUT_MS,
  );
});

describe("a database that cannot be used", () => {
  it(
    "is told in one line",
    async () => {
      const folder = makeFolder();
      writeFileSync(join(folder, "text.db"), "this is not a database".repeat(500));
      const { code, stderr } = await belay(folder, ["runs", "--db", "text.db"]);
      expect(stderr).toMatch(/^belay: [^\n]* \(BELAY_STORE_[A-Z_]+\)\n$/);
      expect([2, 3]).toContain(code);
      const shared = await belay(folder, ["run", "bank", "hi", "--db", "bank.db"]);
      expect([shared.code, shared.stderr]).toEqual([2, expect.stringContaining("Give another --db. (BELAY_USAGE)")]);
    },
    TIMEOUT_MS,
  );
});
