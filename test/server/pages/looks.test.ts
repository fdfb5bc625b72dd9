import axe from "axe-core";
import type { Browser, BrowserContextOptions } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it } from "vitest";
import { chromiumProblem, launchBrowser, openAs, type ServedConsole, serveConsole } from "./browser-support.ts";
import { doubtfulAgent, doubtfulModel, hostileAgent, hostileModel, LONG, MARKUP } from "./hostile.ts";
import { seedConsole } from "./seed.ts";

const problem = chromiumProblem();
if (problem !== undefined) process.stderr.write(`${problem}\n`);

const TIMEOUT_MS = 120_000;

const LOOKS: Readonly<Record<string, BrowserContextOptions>> = {
  "desktop, light": { colorScheme: "light" },
  "desktop, dark": { colorScheme: "dark" },
  "tablet, light": { colorScheme: "light", viewport: { width: 800, height: 1000 } },
  "phone, light": { colorScheme: "light", viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
  "phone, dark": { colorScheme: "dark", viewport: { width: 360, height: 740 }, isMobile: true, hasTouch: true },
};

describe.skipIf(problem !== undefined)("every page, seen", { timeout: TIMEOUT_MS }, () => {
  let browser: Browser;
  let desk: ServedConsole;
  let hostile: ServedConsole;
  let doubtful: ServedConsole;
  beforeAll(async () => {
    browser = await launchBrowser();
    desk = await serveConsole({ start: Date.now() - 13 * 86_400_000, isReal: false });
    await seedConsole(desk);
    hostile = await serveConsole({ agent: hostileAgent(), model: hostileModel() });
    await hostile.run(`C-07 says ${LONG}`, `mallory${MARKUP}${"m".repeat(300)}`);
    doubtful = await serveConsole({ agent: doubtfulAgent(), model: doubtfulModel() });
    await doubtful.run("Wire 50.00 to ACME", "C-01");
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
    await desk?.stop();
    await hostile?.stop();
    await doubtful?.stop();
  });

  const pathsOf = async ({ store }: ServedConsole): Promise<readonly string[]> => {
    const tenant = "default";
    const runs = await store.runs({ tenant });
    const approvals = await store.approvals({ tenant });
    const states = new Map(approvals.map((row) => [row.status, `/approvals/${row.approvalId}`]));
    const run = runs.find(({ runId }) => runId === approvals[0]?.runId) ?? runs[0];
    return [
      ...["/", "/chat", "/approvals", "/approvals?list=approved", "/runs", "/audit", "/audit/3", "/evaluations"],
      ...states.values(),
      ...[`/runs/${run?.runId}`, `/chat/${run?.conversationId}`, "/sign-in", "/nothing"],
    ];
  };

  it.each(Object.keys(LOOKS))("fits without sideways scroll and has nothing for axe to find: %s", async (look) => {
    const found: string[] = [];
    for (const console of [desk, hostile, doubtful]) {
      const page = await openAs(browser, console, "dana", LOOKS[look]);
      for (const path of await pathsOf(console)) {
        await page.goto(path);
        await page.evaluate(axe.source);
        const { violations } = await page.evaluate<axe.AxeResults>("axe.run({ resultTypes: ['violations'] })");
        found.push(...violations.map(({ id, impact, nodes }) => `${path} ${impact} ${id}: ${nodes[0]?.html}`));
        await page.evaluate("for (const fold of document.querySelectorAll('details')) fold.open = true");
        const width = await page.evaluate("document.documentElement.scrollWidth");
        if (width !== page.viewportSize()?.width) found.push(`${path} is ${width} wide`);
      }
      await page.context().close();
    }
    expect(found).toEqual([]);
  });

  it("runs nothing of what strangers wrote and breaks no policy of its own", async () => {
    const page = await openAs(browser, hostile, "dana");
    const said: string[] = [];
    page.on("dialog", (dialog) => {
      said.push(`dialog ${dialog.message()}`);
      void dialog.dismiss();
    });
    page.on("console", (message) => {
      if (message.type() === "error" && !message.text().includes("404")) said.push(message.text());
    });
    page.on("pageerror", (error) => said.push(error.message));
    for (const path of await pathsOf(hostile)) {
      await page.goto(path);
      const foreign = await page.locator("main svg:not(.chart), main script, main iframe, main img").count();
      expect([path, foreign]).toEqual([path, 0]);
    }
    expect(said).toEqual([]);
  });

  it("shows amount and payee of a hostile request above the fold, on a phone too", async () => {
    for (const look of ["desktop, light", "phone, light"]) {
      const page = await openAs(browser, hostile, "dana", LOOKS[look]);
      await page.goto("/approvals");
      await page
        .getByRole("link", { name: /^pay, payee/ })
        .first()
        .click();
      const height = page.viewportSize()?.height ?? 0;
      for (const part of [".request-head .amount", ".request-head .recipient"]) {
        const box = await page.locator(part).boundingBox();
        expect((box?.y ?? height) + (box?.height ?? 0)).toBeLessThan(height);
      }
      await page.context().close();
    }
  });
});
