import { type ChildProcess, execFile } from "node:child_process";
import { existsSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { describe, expect, it, onTestFinished, vi } from "vitest";
import { approvalStep } from "../../../apps/shop/demo/approval-step.ts";
import { closedWindowStep, injectionStep, smallRefundStep } from "../../../apps/shop/demo/customer-steps.ts";
import { evidenceStep } from "../../../apps/shop/demo/evidence-step.ts";
import { createPrinter, type Printer } from "../../../apps/shop/demo/printer.ts";
import { runSteps, type Step } from "../../../apps/shop/demo/run-steps.ts";
import { createStage, type Stage } from "../../../apps/shop/demo/stage.ts";
import { openShopWorld, type ShopWorld } from "../../../apps/shop/world/shop-world.ts";

const MAIN = join(import.meta.dirname, "../../../apps/shop/demo/main.ts");
const QUIET: Printer = { heading: () => undefined, line: () => undefined };

describe("npm run demo", () => {
  it("tells the whole story in plain text, exits 0 and cleans up", { timeout: 60_000 }, async () => {
    const temporary = temporaryFolder();
    const { code, stdout, stderr } = await demo([], { TMPDIR: temporary });
    expect({ code, stderr }).toEqual({ code: 0, stderr: "" });
    expect(readdirSync(temporary)).toEqual([]);
    const lines = stdout.split("\n");
    const has = (...parts: readonly string[]) =>
      expect(lines.filter((line) => parts.every((part) => line.includes(part)))).toHaveLength(1);
    has("agent", "O-1002", "shipped");
    has("allowed", "issue_refund O-1001 Rs 1,500", "OK: within the automatic limit");
    has("refused", "issue_refund O-1004 Rs 1,200", "REFUND_WINDOW_CLOSED: order is 45 days old");
    has("agent", "the 30-day window has closed");
    has("refused", "issue_refund O-1007 Rs 50,000", "AMOUNT_EXCEEDS_REMAINING");
    has("refused", "issue_refund O-1007 Rs 4,000", "NOT_REQUESTED_BY_CUSTOMER");
    has("waiting", "issue_refund O-1005 Rs 4,000", "AMOUNT_ABOVE_AUTO");
    has("killed with SIGKILL");
    has("approved", "issue_refund O-1005 Rs 4,000 by dana");
    has("done", "issue_refund O-1005 Rs 4,000");
    has("refused", "a second approval", "already_decided");
    has("checked", "the audit log is intact");
    expect(stdout).toMatch(/found +changed at record (\d+): the text of record \1 does not hash/);
    expect(stdout).toMatch(/found +journal_differs at record \d+/);
    expect(stdout.trimEnd().endsWith("All 6 steps hold.")).toBe(true);
    // A pipe gets no escape sequences.
    expect(stdout).not.toContain("\u001b");
    const [, killed] = /process +(\d+) is killed/.exec(stdout) ?? [];
    const [, approver] = /process +(\d+) reads the question/.exec(stdout) ?? [];
    expect(Number(killed)).toBeGreaterThan(1);
    expect(Number(approver)).toBeGreaterThan(1);
    expect(killed).not.toBe(approver);
    expect(() => process.kill(Number(killed), 0)).toThrow("ESRCH");
    expect(() => process.kill(Number(approver), 0)).toThrow("ESRCH");
  });

  it("keeps the databases with --keep", { timeout: 60_000 }, async () => {
    const temporary = temporaryFolder();
    const { stdout } = await demo(["--keep"], { TMPDIR: temporary });
    const [, folder = ""] = /kept in (\S+)/.exec(stdout) ?? [];
    expect(folder.startsWith(temporary)).toBe(true);
    expect([existsSync(join(folder, "belay.db")), existsSync(join(folder, "shop.db"))]).toEqual([true, true]);
  });

  it("refuses an unknown option", async () => {
    const { code, stderr } = await demo(["--fast"]);
    expect({ code, stderr }).toEqual({ code: 2, stderr: expect.stringContaining("Usage: npm run demo") });
  });
});

describe("a step whose claim does not hold", () => {
  const sabotage = async (
    step: Step,
    prepare: (world: ShopWorld) => void,
    stage: Stage = newStage(),
  ): Promise<unknown> => {
    const world = openShopWorld(stage.worldFile);
    prepare(world);
    world.close();
    return runSteps(stage, [step]);
  };
  const failure = (title: string, reason: string) => ({
    ok: false,
    problem: expect.stringMatching(new RegExp(`^step 1 \\(${title}.*\\) failed: .*${reason}`)),
  });

  it("is named, when a refund inside the rules is not paid", async () => {
    const spoil = (world: ShopWorld) => world.insertRefund({ orderId: "O-1001", amountPaise: 1, at: Date.now() });
    expect(await sabotage(smallRefundStep, spoil)).toEqual(failure("A refund of Rs 1,500", "AMOUNT_EXCEEDS_REMAINING"));
  });

  it("is named, when a refund outside the window is paid", async () => {
    const spoil = (world: ShopWorld) => world.placeDaysEarlier("O-1004", -40);
    expect(await sabotage(closedWindowStep, spoil)).toEqual(failure("A refund after the 30 days", "REFUND_WINDOW"));
  });

  it("is named, when the injected sum could be paid by the order", async () => {
    const spoil = (world: ShopWorld) => world.cancel("O-1007", { at: Date.now() });
    const other = (world: ShopWorld) => world.insertRefund({ orderId: "O-1007", amountPaise: 399_999, at: Date.now() });
    // A delivered order cannot be cancelled, so nothing is spoilt and the step holds.
    expect(await sabotage(injectionStep, spoil)).toEqual({ ok: true });
    expect(await sabotage(injectionStep, other)).toEqual(failure("A note on an order", "verdicts on issue_refund"));
  });

  it("is named, when the large refund does not wait for a person", { timeout: 60_000 }, async () => {
    // The child processes read the source, as this test does.
    vi.stubEnv("NODE_OPTIONS", "--conditions=belay-source");
    onTestFinished(() => void vi.unstubAllEnvs());
    const spoil = (world: ShopWorld) =>
      world.insertRefund({ orderId: "O-1005", amountPaise: 1, runId: "run_other", at: Date.now() });
    expect(await sabotage(approvalStep, spoil)).toEqual(
      failure("A refund of Rs 4,000", 'state of the run: expected "waiting"'),
    );
  });

  it("is named, when there is no approval to forge", async () => {
    expect(await sabotage(evidenceStep, () => undefined)).toEqual(failure("The audit log verifies", "no record"));
  });
});

describe("createPrinter", () => {
  const printed = (isTTY: boolean, noColor: string | undefined): string => {
    let text = "";
    const stream = { isTTY, write: (piece: string) => (text += piece) };
    createPrinter(stream, noColor).line("refused", "issue_refund", "CODE: why");
    return text;
  };

  it("colours on a terminal alone, and not when NO_COLOR is set", () => {
    expect(printed(true, undefined)).toContain("\u001b[31mrefused");
    expect(printed(true, "1")).toBe("  refused   issue_refund  CODE: why\n");
    expect(printed(false, undefined)).toBe("  refused   issue_refund  CODE: why\n");
  });
});

interface Outcome {
  readonly code: number;
  readonly stdout: string;
  readonly stderr: string;
}

function demo(args: readonly string[], env: Readonly<Record<string, string>> = {}): Promise<Outcome> {
  const { FORCE_COLOR: _1, NO_COLOR: _2, NODE_OPTIONS: _3, ...inherited } = process.env;
  return new Promise((resolve) => {
    const child: ChildProcess = execFile(
      process.execPath,
      ["--conditions=belay-source", MAIN, ...args],
      { env: { ...inherited, ...env } },
      (_error, stdout, stderr) => resolve({ code: child.exitCode ?? -1, stdout, stderr }),
    );
  });
}

function newStage(): Stage {
  return createStage(temporaryFolder(), QUIET);
}

function temporaryFolder(): string {
  const folder = mkdtempSync(join(tmpdir(), "belay-demo-test-"));
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }));
  return folder;
}
