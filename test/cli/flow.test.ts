import { readFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import { describe, expect, it } from "vitest";
import { openSqliteStore } from "../../src/adapters/sqlite/index.ts";
import type { ApprovalRow } from "../../src/journal/index.ts";
import { belay, jsonOf, makeFolder } from "./belay.ts";

const TIMEOUT_MS = 60_000;
const paymentsIn = (folder: string) => JSON.parse(readFileSync(join(folder, ".belay/bank.db"), "utf8")) as unknown[];

interface RunJson {
  readonly runId: string;
  readonly label: string;
  readonly status: string;
  readonly conversationId: string;
  readonly approvals: readonly ApprovalRow[];
  readonly usage: { readonly costNanoUsd: number | null };
  readonly transitions?: readonly unknown[];
}

async function ask(folder: string, message: string, env: Readonly<Record<string, string>> = {}): Promise<RunJson> {
  return jsonOf<RunJson>(await belay(folder, ["run", "bank", message, "--json"], env));
}

async function question(folder: string, env: Readonly<Record<string, string>> = {}) {
  const run = await ask(folder, "pay 500 to alice", env);
  return { run, approvalId: run.approvals[0]?.approvalId ?? "none" };
}

describe("belay run", () => {
  it(
    "tells each gate, the answer and how the run stands, with nothing that steers the terminal",
    async () => {
      const folder = makeFolder();
      const paid = await belay(folder, ["run", "bank", "pay 50 to alice", "--as", "C-7", "--transitions"]);
      expect(paid.code).toBe(0);
      expect(paid.stderr).toBe("");
      expect(paid.stdout).toMatch(
        new RegExp(
          [
            "^run run_\\S+  bank",
            '  allowed   pay \\{"account":"alice","amount":50\\}  OK: small \\(rule large\\)',
            '  done      pay \\{"account":"alice","amount":50\\}',
            "",
            "  0  PLAN -> CALL_MODEL  start",
            "[^]*",
            "Done.",
            '\\{"paid":50\\}',
            "",
            "run_\\S+  final  2 model calls, 220 tokens, \\$0.000240\n$",
          ].join("\n"),
        ),
      );
      const refused = await belay(folder, ["run", "bank", "pay 0 to alice"]);
      expect(refused.stdout).toContain("  refused   pay ");
      const noted = await belay(folder, ["run", "bank", "hi"]);
      // biome-ignore lint/suspicious/noControlCharactersInRegex: that there is none is the point
      expect(noted.stdout).not.toMatch(/[\u001b\u202e]/);
      expect(noted.stdout).toContain("Hello \\u{1b}[31mred\\u{202e} 2");
      const [, , first] = jsonOf<{ principal: unknown }[]>(await belay(folder, ["runs", "--json"]));
      expect(first?.principal).toEqual({ kind: "customer", id: "C-7" });
    },
    TIMEOUT_MS,
  );

  it(
    "prints JSON, continues a conversation and keeps tenants apart",
    async () => {
      const folder = makeFolder();
      const first = await ask(folder, "hi");
      expect(first).toMatchObject({ status: "done", label: "final", usage: { costNanoUsd: 120_000 } });
      expect(first.transitions).toBeUndefined();
      const again = ["run", "bank", "again", "--conversation", first.conversationId, "--json", "--transitions"];
      const second = jsonOf<RunJson>(await belay(folder, again));
      expect(second.conversationId).toBe(first.conversationId);
      expect(second.transitions?.length).toBeGreaterThan(1);
      expect(jsonOf(await belay(folder, ["runs", "--json", "--tenant", "other"]))).toEqual([]);
      const foreign = await belay(folder, ["show", first.runId, "--tenant", "other"]);
      expect([foreign.code, foreign.stderr]).toEqual([2, expect.stringContaining("(BELAY_RUN_UNKNOWN)")]);
    },
    TIMEOUT_MS,
  );

  it(
    "exits 1 when the run fails, and 2 for a message that is not taken",
    async () => {
      const folder = makeFolder();
      const { code } = await belay(folder, ["run", "bank", "always nonsense"]);
      expect(code).toBe(1);
      const [long, empty, app] = await Promise.all([
        belay(folder, ["run", "bank", "a".repeat(4001)]),
        belay(folder, ["run", "bank", ""]),
        belay(folder, ["run", "nope", "hi"]),
      ]);
      expect([long.code, empty.code, app.code]).toEqual([2, 2, 2]);
      expect(long.stderr).toMatch(/^belay: .* \(BELAY_INPUT_TOO_LONG\)\n$/);
      expect(app.stderr).toContain("It has: bank. (BELAY_APP_UNKNOWN)");
      expect(jsonOf<unknown[]>(await belay(folder, ["runs", "--json"]))).toHaveLength(1);
    },
    TIMEOUT_MS,
  );
});

describe("belay approve and reject", () => {
  it(
    "lets only people of the configuration decide, once, in another process",
    async () => {
      const folder = makeFolder();
      const { run, approvalId } = await question(folder);
      expect([run.status, run.label]).toEqual(["waiting", "waiting"]);
      const [nobody, viewer, stranger, unknown] = await Promise.all([
        belay(folder, ["approve", approvalId]),
        belay(folder, ["approve", approvalId, "--by", "vik"]),
        belay(folder, ["approve", approvalId, "--by", "C-1"]),
        belay(folder, ["approve", "apr_nope", "--by", "dana"]),
      ]);
      expect([nobody.code, viewer.code, stranger.code, unknown.code]).toEqual([2, 2, 2, 2]);
      expect(viewer.stderr).toContain("(BELAY_NOT_PERMITTED)");
      expect(stranger.stderr).toContain("These may: dana. (BELAY_NOT_PERMITTED)");
      expect(unknown.stderr).toContain("(BELAY_APPROVAL_UNKNOWN)");

      const listed = await belay(folder, ["approvals"]);
      expect(listed.stdout).toContain(`${approvalId}  pending`);
      expect(listed.stdout).toContain('pay {"account":"alice","amount":500}');
      const approved = await belay(folder, ["approve", approvalId, "--by", "dana", "--reason", "seen"]);
      expect(approved.code).toBe(0);
      expect(approved.stdout).toMatch(
        /^ {2}approved {2}pay .* by dana {2}seen\n {2}allowed {3}pay .*looked at again; a person has approved it\n {2}done {6}pay /,
      );
      expect(paymentsIn(folder)).toHaveLength(1);

      const twice = await belay(folder, ["approve", approvalId, "--by", "dana"]);
      expect([twice.code, twice.stderr]).toEqual([2, expect.stringContaining("already approved")]);
      expect(twice.stdout).toContain("resolved   approved by person dana");
      expect(paymentsIn(folder)).toHaveLength(1);
      expect(jsonOf(await belay(folder, ["approvals", "--json"]))).toEqual([]);
      expect(jsonOf(await belay(folder, ["approvals", "--all", "--json"]))).toMatchObject([
        { status: "approved", note: "seen" },
      ]);
    },
    TIMEOUT_MS,
  );

  it(
    "records without going on, and recover goes on",
    async () => {
      const folder = makeFolder();
      const { run, approvalId } = await question(folder);
      const recorded = await belay(folder, ["approve", approvalId, "--by", "dana", "--no-run", "--json"]);
      expect([recorded.code, jsonOf(recorded)]).toEqual([
        0,
        expect.objectContaining({ status: "recorded", answer: "approved" }),
      ]);
      expect(jsonOf(await belay(folder, ["runs", "--status", "done", "--json"]))).toEqual([]);
      const recovered = await belay(folder, ["recover", "--json"]);
      expect(jsonOf(recovered)).toEqual([{ tenant: "default", runId: run.runId, status: "done", label: "final" }]);
      expect(paymentsIn(folder)).toHaveLength(1);
      expect(jsonOf(await belay(folder, ["recover", "--json"]))).toEqual([]);
    },
    TIMEOUT_MS,
  );

  it(
    "ends the run with a no, which is a success of reject",
    async () => {
      const folder = makeFolder();
      const { approvalId } = await question(folder);
      const rejected = await belay(folder, ["reject", approvalId, "--by", "dana", "--json"]);
      expect([rejected.code, jsonOf<RunJson>(rejected).label]).toEqual([0, "rejected"]);
      const approved = await belay(folder, ["approve", approvalId, "--by", "dana", "--json"]);
      expect([approved.code, jsonOf<ApprovalRow>(approved).status]).toEqual([2, "rejected"]);
    },
    TIMEOUT_MS,
  );

  it(
    "refuses an answer that comes too late, and ends the run",
    async () => {
      const folder = makeFolder();
      const { run, approvalId } = await question(folder, { BANK_TTL_MS: "1500" });
      await sleep(1600);
      const late = await belay(folder, ["approve", approvalId, "--by", "dana"]);
      expect([late.code, late.stderr]).toEqual([1, expect.stringContaining("(BELAY_APPROVAL_EXPIRED)")]);
      const shown = jsonOf<{ run: unknown }>(await belay(folder, ["show", run.runId, "--json"]));
      expect(shown.run).toMatchObject({ status: "failed", termination: "approval_expired" });
      const later = await belay(folder, ["approve", approvalId, "--by", "dana"]);
      expect([later.code, later.stderr]).toEqual([1, expect.stringContaining("(BELAY_APPROVAL_EXPIRED)")]);
    },
    TIMEOUT_MS,
  );

  it(
    "does not wait for a run that somebody else is working on when it recovers",
    async () => {
      const folder = makeFolder();
      const { run, approvalId } = await question(folder);
      await belay(folder, ["approve", approvalId, "--by", "dana", "--no-run"]);
      const store = await openSqliteStore(join(folder, ".belay/belay.db"));
      const key = { tenant: "default", runId: run.runId };
      await store.acquireLease(key, "another worker", 3_600_000, Date.now());
      const busy = await belay(folder, ["recover"]);
      expect([busy.code, busy.stderr]).toEqual([3, expect.stringContaining("(BELAY_RUN_BUSY)")]);
      await store.releaseLease(key, "another worker");
      await store.close();
      expect((await belay(folder, ["recover"])).code).toBe(0);
    },
    TIMEOUT_MS,
  );
});

describe("belay show and trace", () => {
  it(
    "show a run whole, without the configuration",
    async () => {
      const folder = makeFolder();
      const { run } = await question(folder);
      const elsewhere = makeFolder({});
      const db = ["--db", join(folder, ".belay/belay.db")];
      const shown = await belay(elsewhere, ["show", run.runId, ...db]);
      expect(shown.code).toBe(0);
      expect(shown.stdout).toContain("  1  EXECUTE_TOOLS -> AWAIT_APPROVAL  1 approval(s) pending\n");
      expect(shown.stdout).toContain("decided  ask ABOVE_AUTO: above the automatic limit (rule large)");
      const json = jsonOf<{ entries: { event: { type: string } }[] }>(
        await belay(elsewhere, ["show", run.runId, "--json", ...db]),
      );
      expect(json.entries[0]?.event.type).toBe("run.started");

      const trace = await belay(elsewhere, ["trace", run.runId, "--jsonl", ...db]);
      expect(
        trace.stdout
          .trim()
          .split("\n")
          .map((line) => JSON.parse(line) as unknown),
      ).toEqual([
        {
          run: run.runId,
          step: 1,
          model_ms: expect.any(Number),
          tokens: [100, 10],
          tool: "pay",
          decision: "needs_approval",
          code: "ABOVE_AUTO",
        },
      ]);
    },
    TIMEOUT_MS,
  );
});
