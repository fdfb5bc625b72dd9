import { execFileSync } from "node:child_process";
import { existsSync, mkdirSync, mkdtempSync, statSync, utimesSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { BrowserContextOptions } from "playwright-core";
import { expect, it } from "vitest";
import shop from "../../../apps/shop/index.ts";
import stockroom from "../../../apps/stockroom/index.ts";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { runSuite, toJson } from "../../../src/evals/index.ts";
import { launchBrowser, openAs, serveConsole } from "./browser-support.ts";
import { seedConsole } from "./seed.ts";

const OUT = process.env["BELAY_SCREENSHOTS"];
const BYTES_MAX = 150_000;
/** Makes the pictures a third of their size, where it is installed. */
const PNGQUANT = "/usr/bin/pngquant";
const DAY_MS = 86_400_000;

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  light: { colorScheme: "light", viewport: { width: 1280, height: 860 } },
  dark: { colorScheme: "dark", viewport: { width: 1280, height: 860 } },
  phone: { colorScheme: "light", viewport: { width: 390, height: 844 }, isMobile: true, hasTouch: true },
};

it.skipIf(OUT === undefined)(
  "takes the screenshots of docs/screenshots (BELAY_SCREENSHOTS names the folder)",
  async () => {
    const folder = mkdtempSync(join(tmpdir(), "belay-"));
    const now = Date.now();
    const served = await serveConsole({
      store: await openSqliteStore(join(folder, "belay.db")),
      start: now - 13 * DAY_MS - 3 * 3_600_000,
      isReal: false,
      resultsFolder: await storedResults(folder, now),
    });
    await seedConsole(served);
    const approvals = await served.store.approvals({ tenant: "default" });
    const open = approvals.findLast(({ status, agent }) => status === "pending" && agent === "shop");
    const rejected = approvals.find(({ status }) => status === "rejected");
    const approved = approvals.find(({ status }) => status === "approved");
    const openRun = await served.store.run({ tenant: "default", runId: open?.runId ?? "" });
    const pages = {
      overview: "/",
      chat: `/chat/${openRun?.conversationId}`,
      approvals: "/approvals",
      approval: `/approvals/${open?.approvalId}`,
      "approval-rejected": `/approvals/${rejected?.approvalId}`,
      runs: "/runs",
      run: `/runs/${approved?.runId}`,
      audit: "/audit",
      "audit-record": "/audit/12",
      evaluations: "/evaluations",
      "sign-in": "/sign-in",
    };
    mkdirSync(OUT ?? "", { recursive: true });
    const browser = await launchBrowser();
    const tooLarge: string[] = [];
    for (const [look, options] of Object.entries(LOOKS)) {
      for (const [name, path] of Object.entries(pages)) {
        const page = await openAs(browser, served, name === "sign-in" ? "" : "dana", options);
        await page.goto(path);
        const file = join(OUT ?? "", `${name}-${look}.png`);
        await page.screenshot({ path: file, fullPage: process.env["BELAY_SCREENSHOTS_FULL"] !== undefined });
        if (existsSync(PNGQUANT)) execFileSync(PNGQUANT, ["--force", "--ext", ".png", "--quality", "70-95", file]);
        if (statSync(file).size > BYTES_MAX) tooLarge.push(file);
        await page.context().close();
      }
    }
    await browser.close();
    await served.stop();
    expect(tooLarge).toEqual([]);
  },
  300_000,
);

/** A few days of results of the real suite, the last of them with controls taken out. */
async function storedResults(folder: string, now: number): Promise<string> {
  const results = join(folder, "results");
  mkdirSync(results);
  const write = (name: string, value: unknown, at: number): void => {
    const file = join(results, name);
    writeFileSync(file, JSON.stringify(value));
    utimesSync(file, at / 1000, at / 1000);
  };
  const reference = await runSuite(shop, "reference");
  const worse = {
    ...reference,
    cases: reference.cases.map((each, at) => (at % 13 === 5 ? { ...each, passed: false } : each)),
  };
  const bad = {
    ...reference,
    cases: reference.cases.map((each, at) => (at % 7 === 3 ? { ...each, passed: false } : each)),
  };
  for (const [daysAgo, result] of [
    [9, bad],
    [7, worse],
    [5, reference],
    [3, worse],
    [1, reference],
  ] as const) {
    write(`reference-${daysAgo}.json`, toJson(result, { baseline: 1, maxDrop: 0 }), now - daysAgo * DAY_MS);
  }
  write("stockroom.json", toJson(await runSuite(stockroom, "reference")), now - DAY_MS);
  for (const control of ["rule:named_order", "rule:auto_limit", "rule:refund_window", "rule:amount_remaining"]) {
    const ablated = await runSuite(shop, "reference", { without: [control] });
    write(`without-${control.replace(":", "-")}.json`, toJson(ablated), now - 3_600_000);
  }
  return results;
}
