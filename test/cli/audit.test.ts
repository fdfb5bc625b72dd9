import { copyFileSync, statSync, writeFileSync } from "node:fs";
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
