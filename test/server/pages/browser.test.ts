import { mkdtempSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Browser, Page } from "playwright-core";
import { afterAll, afterEach, beforeAll, describe, expect, it } from "vitest";
import { openSqliteStore } from "../../../src/adapters/sqlite/index.ts";
import { calls, final } from "../../engine/support.ts";
import { chromiumProblem, launchBrowser, openAs, type ServedConsole, serveConsole } from "./browser-support.ts";
import { slowModel } from "./slow-model.ts";
import type { TestConsoleOptions } from "./support.ts";

const problem = chromiumProblem();
if (problem !== undefined) process.stderr.write(`${problem}\n`);

const ORDER = "O-1011";
const TIMEOUT_MS = 30_000;

describe.skipIf(problem !== undefined)("in a browser", { timeout: TIMEOUT_MS }, () => {
  let browser: Browser;
  const open: ServedConsole[] = [];
  beforeAll(async () => {
    browser = await launchBrowser();
  }, TIMEOUT_MS);
  afterEach(async () => {
    await Promise.all(browser.contexts().map((context) => context.close()));
    await Promise.all(open.splice(0).map((console) => console.stop()));
  });
  afterAll(async () => {
    await browser?.close();
  });

  const start = async (options: TestConsoleOptions = {}): Promise<ServedConsole> => {
    const console = await serveConsole(options);
    open.push(console);
    return console;
  };
  const send = async (page: Page, text: string): Promise<void> => {
    await page.goto("/chat");
    await page.getByLabel("New conversation").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/chat\/cnv_/);
  };
  const refunds = ({ world }: ServedConsole, order = ORDER): number => world.order(order)?.refundedPaise ?? -1;

  it("goes from a message to a refund, live", async () => {
    const console = await start();
    const page = await openAs(browser, console, "olga");
    await send(page, "Please refund order O-1001");
    await page.getByText("I refunded Rs 1,500 on order O-1001.").waitFor();
    expect(await page.locator(".story .badge", { hasText: "allowed" }).count()).toBe(2);
    expect(refunds(console, "O-1001")).toBe(150_000);
    expect(await page.locator("#conversation").getAttribute("data-live")).toBe(null);
  });

  it("pauses, is approved by another person, moves the money once, and tells the first one", async () => {
    const console = await start();
    const olga = await openAs(browser, console, "olga");
    await send(olga, `Please refund order ${ORDER}`);
    await olga.getByText("This waits for a person.").waitFor();
    await olga.getByRole("link", { name: "Look at the request" }).click();
    await olga.getByText("You cannot decide this").waitFor();
    await olga.goBack();
    const dana = await openAs(browser, console, "dana");
    await dana.goto("/approvals");
    await dana.getByRole("link", { name: /issue_refund, order O-1011/ }).click();
    await dana.getByLabel("Reason").fill("Photo received.");
    await dana.getByRole("button", { name: "Approve" }).click();
    await dana.getByText("It was done, once.").waitFor();
    await olga.getByText("I refunded Rs 3,200 on order O-1011.").waitFor();
    expect(await olga.getByText("This waits for a person.").count()).toBe(0);
    expect(refunds(console)).toBe(320_000);
  });

  it("takes a double click as one answer", async () => {
    const console = await start();
    await console.run(`Please refund order ${ORDER}`);
    const page = await openAs(browser, console, "dana");
    await page.goto("/approvals");
    await page.getByRole("link", { name: /issue_refund/ }).click();
    await page.getByRole("button", { name: "Approve" }).dblclick();
    await page
      .getByText(/It was done, once|dana was faster/)
      .first()
      .waitFor();
    await console.settle();
    expect(refunds(console)).toBe(320_000);
  });

  it("tells the slower of two people who it was", async () => {
    const console = await start();
    await console.run(`Please refund order ${ORDER}`);
    const pages = await Promise.all(["dana", "lee"].map((who) => openAs(browser, console, who)));
    const [row] = await console.store.approvals({ tenant: "default" });
    await Promise.all(pages.map((page) => page.goto(`/approvals/${row?.approvalId}`)));
    const answers = await Promise.all(
      pages.map(async (page) => {
        const [response] = await Promise.all([
          page.waitForResponse((each) => each.request().method() === "POST"),
          page.getByRole("button", { name: "Approve" }).click(),
        ]);
        return response.status();
      }),
    );
    expect(answers.toSorted()).toEqual([303, 409]);
    const [slower] = pages.filter((_, index) => answers[index] === 409);
    await slower?.getByText(/(dana|lee) was faster: this is already approved/).waitFor();
    await console.settle();
    expect(refunds(console)).toBe(320_000);
  });

  it("shows the other one's answer on a page that is open, and keeps what is being written", async () => {
    const console = await start();
    await console.run(`Please refund order ${ORDER}`);
    const [row] = await console.store.approvals({ tenant: "default" });
    const page = await openAs(browser, console, "dana");
    await page.goto(`/approvals/${row?.approvalId}`);
    await page.getByLabel("Reason").fill("I am still writing");
    await page.waitForResponse(
      (each) => each.url().endsWith(row?.approvalId ?? "") && each.request().resourceType() === "fetch",
    );
    expect(await page.getByLabel("Reason").inputValue()).toBe("I am still writing");
    await console.post(
      `/approvals/${row?.approvalId}/decide`,
      { answer: "rejected", digest: row?.argsHash ?? "", note: "no" },
      "lee",
    );
    await page.getByText("Rejected. Nothing was done").waitFor();
    expect(await page.getByRole("button", { name: "Approve" }).count()).toBe(0);
  });

  it("rejects with a reason, and only with one", async () => {
    const console = await start();
    await console.run(`Please refund order ${ORDER}`);
    const page = await openAs(browser, console, "dana");
    await page.goto("/approvals");
    await page.getByRole("link", { name: /issue_refund/ }).click();
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByText("A rejection needs a reason.").waitFor();
    await page.getByLabel("Reason").fill("Not covered by the warranty.");
    await page.getByRole("button", { name: "Reject" }).click();
    await page.getByText("Rejected. Nothing was done").waitFor();
    await console.settle();
    expect(refunds(console)).toBe(0);
  });

  it("counts down to the expiry and takes no answer after it", async () => {
    const console = await start();
    await console.run(`Please refund order ${ORDER}`);
    console.clock.advance(24 * 3_600_000 - 2500);
    const page = await openAs(browser, console, "dana");
    await page.goto("/approvals");
    await page.getByRole("cell", { name: /^[12] s$/ }).waitFor();
    await page.getByRole("link", { name: /issue_refund/ }).click();
    const approve = page.getByRole("button", { name: "Approve" });
    await approve.waitFor();
    console.clock.advance(10_000);
    await approve.click();
    await page.getByText("Too late: the request has expired.").waitFor();
    await page.getByText("Expired. Nothing was done.").waitFor();
    await console.settle();
    expect(refunds(console)).toBe(0);
  });

  it("goes on after a reload in the middle of an answer, and shows it as it is written", async () => {
    const model = slowModel([calls(["get_order", { order_id: "O-1002" }]), final("It is on its way to you.")]);
    const console = await start({ model });
    const page = await openAs(browser, console, "olga");
    await send(page, "Where is order O-1002?");
    await model.proceed();
    await page.locator(".story .badge", { hasText: "done" }).waitFor();
    await model.say("It is on ");
    await page.locator("[data-draft]", { hasText: "It is on" }).waitFor();
    await page.reload();
    await page.locator(".story .badge", { hasText: "done" }).waitFor();
    await page.locator(".badge", { hasText: "running" }).waitFor();
    await model.proceed();
    await page.getByText("It is on its way to you.").waitFor();
    expect(await page.locator(".story .badge", { hasText: "done" }).count()).toBe(1);
    expect(await page.locator("[data-draft]:visible").count()).toBe(0);
  });

  it("finds its way back after the connection was lost", async () => {
    const model = slowModel([final("Here again.")]);
    const console = await start({ model });
    const page = await openAs(browser, console, "olga");
    await send(page, "Hello?");
    await page.context().setOffline(true);
    await model.proceed();
    await console.settle();
    expect(await page.getByText("Here again.").count()).toBe(0);
    await page.context().setOffline(false);
    await page.getByText("Here again.").waitFor();
  });

  it("goes on with a question after a restart of the server", async () => {
    const file = join(mkdtempSync(join(tmpdir(), "belay-")), "belay.db");
    const before = await serveConsole({ store: await openSqliteStore(file) });
    await before.run(`Please refund order ${ORDER}`);
    await before.stop();
    await before.store.close();
    const console = await start({ store: await openSqliteStore(file) });
    const page = await openAs(browser, console, "dana");
    await page.goto("/approvals");
    await page.getByRole("link", { name: /issue_refund/ }).click();
    await page.getByRole("button", { name: "Approve" }).click();
    await page.getByText("It was done, once.").waitFor();
    expect(refunds(console)).toBe(320_000);
  });

  it("does all of it without scripts", async () => {
    const console = await start();
    const options = { javaScriptEnabled: false };
    const olga = await openAs(browser, console, "", options);
    await olga.goto("/chat");
    await olga.getByLabel("Sign-in token").fill("token-olga");
    await olga.getByRole("button", { name: "Sign in" }).click();
    await send(olga, `Please refund order ${ORDER}`);
    await console.settle();
    await olga.getByRole("link", { name: "Look again" }).click();
    await olga.getByText("This waits for a person.").waitFor();
    const dana = await openAs(browser, console, "dana", options);
    await dana.goto("/approvals");
    await dana.getByRole("link", { name: /issue_refund/ }).click();
    await dana.getByRole("button", { name: "Approve" }).click();
    await console.settle();
    await dana.reload();
    await dana.getByText("It was done, once.").waitFor();
    await dana.goto("/audit");
    await dana.getByRole("button", { name: "Verify the log" }).click();
    await dana.getByText("The log is whole").waitFor();
    expect(refunds(console)).toBe(320_000);
  });

  it("is used with the keyboard alone", async () => {
    const console = await start();
    await console.run(`Please refund order ${ORDER}`);
    const [row] = await console.store.approvals({ tenant: "default" });
    const page = await openAs(browser, console, "dana");
    await page.goto(`/approvals/${row?.approvalId}`);
    await page.keyboard.press("Tab");
    expect(await page.evaluate("document.activeElement.textContent")).toBe("Skip to content");
    await page.keyboard.press("Enter");
    const reached: string[] = [];
    for (let index = 0; index < 12 && reached.at(-1) !== "Approve"; index += 1) {
      await page.keyboard.press("Tab");
      reached.push(String(await page.evaluate("document.activeElement.textContent.trim()")));
      const outline = await page.evaluate("getComputedStyle(document.activeElement).outlineStyle");
      expect([reached.at(-1), outline]).toEqual([reached.at(-1), "solid"]);
    }
    expect(reached.at(-1)).toBe("Approve");
    await page.keyboard.press("Enter");
    await page.getByText("It was done, once.").waitFor();
    expect(refunds(console)).toBe(320_000);
  });

  it("changes its theme by a button, and remembers it", async () => {
    const console = await start();
    const page = await openAs(browser, console, "dana", { colorScheme: "light" });
    const ground = () => page.evaluate("getComputedStyle(document.body).backgroundColor");
    await page.goto("/runs?status=done");
    const light = await ground();
    await page.getByRole("button", { name: "Dark" }).click();
    await page.waitForURL("/runs?status=done");
    expect(await ground()).not.toBe(light);
    await page.goto("/audit");
    expect(await ground()).not.toBe(light);
    await page.getByRole("button", { name: "Auto" }).click();
    expect(await ground()).toBe(light);
  });
});
