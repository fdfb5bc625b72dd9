import { serve } from "@hono/node-server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPages } from "../../../src/server/pages/index.ts";
import { calls, final } from "../../engine/support.ts";
import { type ServerChange, type ServerWorld, serverWorld } from "../support.ts";
import { chromiumProblem, launchBrowser } from "./browser-support.ts";
import { MARKUP } from "./hostile.ts";
import { slowModel } from "./slow-model.ts";

const problem = chromiumProblem();
if (problem !== undefined) process.stderr.write(`${problem}\n`);

const TIMEOUT_MS = 30_000;
const WITHIN = { timeout: 10_000 };

/** The whole server on loopback: people, sessions, limits, API and pages. */
async function startServer(change: ServerChange = {}): Promise<ServerWorld & { readonly url: string }> {
  const world = await serverWorld({ ...change, options: { pages: createPages, ...change.options } });
  return new Promise((resolve) => {
    const server = serve({ fetch: world.app.fetch, port: 0, hostname: "127.0.0.1" }, ({ port }) => {
      onTestFinished(async () => {
        if ("closeAllConnections" in server) server.closeAllConnections();
        await new Promise((closed) => server.close(closed));
      });
      resolve({ ...world, url: `http://127.0.0.1:${port}` });
    });
  });
}

describe.skipIf(problem !== undefined)("the pages on the real server", { timeout: TIMEOUT_MS }, () => {
  let browser: Browser;
  beforeAll(async () => {
    browser = await launchBrowser();
  }, TIMEOUT_MS);
  afterAll(async () => {
    await browser?.close();
  });

  const pageOf = async (url: string): Promise<Page> => {
    const context = await browser.newContext({ baseURL: url });
    onTestFinished(() => context.close());
    return context.newPage();
  };
  const signIn = async (world: ServerWorld & { readonly url: string }, id: string): Promise<Page> => {
    const page = await pageOf(world.url);
    await page.goto(`/sign-in?token=${world.people.issue("link", "default", id)}`);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByRole("heading", { name: "Overview" }).waitFor();
    return page;
  };
  const start = async (change: ServerChange = {}) => {
    const world = await startServer(change);
    world.people.add({ tenant: "default", id: "olga", name: "Olga", roles: ["operator"] });
    world.people.add({ tenant: "default", id: "dana", name: "Dana", roles: ["approver"] });
    world.people.add({ tenant: "default", id: "lee", name: "Lee", roles: ["approver"] });
    world.people.add({ tenant: "default", id: "vik", name: "Vik", roles: ["viewer"] });
    return world;
  };
  const send = async (page: Page, text: string): Promise<void> => {
    await page.goto("/chat");
    await page.getByLabel("New conversation").fill(text);
    await page.getByRole("button", { name: "Send" }).click();
    await page.waitForURL(/\/chat\/cnv/);
  };

  it("signs in by a link that works once, and out again", async () => {
    const world = await start();
    const link = `/sign-in?token=${world.people.issue("link", "default", "dana")}`;
    const page = await pageOf(world.url);
    await page.goto("/approvals");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
    await page.goto(link);
    await page.getByRole("button", { name: "Sign in" }).click();
    await page.getByText("Dana").waitFor();
    const cookies = await page.context().cookies();
    expect(cookies.find(({ name }) => name === "belay_session")).toMatchObject({ httpOnly: true, sameSite: "Lax" });
    expect(await page.evaluate("document.cookie")).toBe("");
    const other = await pageOf(world.url);
    await other.goto(link);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByText(/has been used or has expired/).waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.goto("/runs");
    await page.getByRole("heading", { name: "Sign in" }).waitFor();
  });

  it("pauses, is approved by another person, and moves the money once", async () => {
    const world = await start();
    const [olga, dana] = [await signIn(world, "olga"), await signIn(world, "dana")];
    await send(olga, "refund O-1 5000");
    await olga.getByText("This waits for a person.").waitFor();
    await dana.goto("/approvals");
    await dana.getByRole("link", { name: /^refund/ }).click();
    await dana.getByRole("button", { name: "Approve" }).dblclick();
    await dana
      .getByText(/It was done, once|was faster/)
      .first()
      .waitFor();
    await olga.getByText("done: refund O-1 5000").waitFor();
    expect(world.effects).toEqual(["O-1:5000"]);
  });

  it("asks for two people where it is told to", async () => {
    const world = await start({ approvals: [{ approvals: 2 }] });
    const [olga, dana, lee] = [await signIn(world, "olga"), await signIn(world, "dana"), await signIn(world, "lee")];
    await send(olga, "refund O-2 5000");
    await olga.getByText("This waits for a person.").waitFor();
    for (const [page, said] of [
      [dana, "Your yes is counted: 1 of 2"],
      [lee, "It was done, once."],
    ] as const) {
      await page.goto("/approvals");
      await page.getByRole("link", { name: /^refund/ }).click();
      await page.getByRole("button", { name: "Approve" }).click();
      await page.getByText(said).waitFor();
    }
    expect(world.effects).toEqual(["O-2:5000"]);
  });

  it("lets a viewer look and do nothing, whatever the viewer sends", async () => {
    const world = await start();
    const [olga, vik] = [await signIn(world, "olga"), await signIn(world, "vik")];
    await send(olga, "refund O-3 5000");
    await olga.getByText("This waits for a person.").waitFor();
    const { approvalId, argsHash } = await world.question();
    await vik.goto(`/approvals/${approvalId}`);
    await vik.getByText("You cannot decide this").waitFor();
    expect(await vik.getByRole("button", { name: "Approve" }).count()).toBe(0);
    const token = await vik.locator("input[name=csrf]").first().inputValue();
    const sendForm = (path: string, form: Readonly<Record<string, string>>) =>
      vik.request.post(path, { form, headers: { Origin: world.url }, maxRedirects: 0 });
    const decide = { answer: "approved", digest: argsHash, csrf: token };
    expect((await sendForm(`/approvals/${approvalId}/decide`, decide)).status()).toBe(403);
    expect((await sendForm("/chat", { app: "desk", text: "refund O-4 1", key: "k", csrf: token })).status()).toBe(403);
    expect(world.effects).toEqual([]);
  });

  it("takes no form of another site, nor one with another's token", async () => {
    const world = await start();
    const [olga, dana] = [await signIn(world, "olga"), await signIn(world, "dana")];
    await send(olga, "refund O-5 5000");
    await olga.getByText("This waits for a person.").waitFor();
    const { approvalId, argsHash } = await world.question();
    await dana.goto("/");
    const own = await dana.locator("input[name=csrf]").first().inputValue();
    const foreign = await olga.locator("input[name=csrf]").first().inputValue();
    for (const [csrf, origin] of [
      ["", world.url],
      [foreign, world.url],
      [own, "https://evil.test"],
    ] as const) {
      const form = { answer: "approved", digest: argsHash, csrf };
      const response = await dana.request.post(`/approvals/${approvalId}/decide`, {
        form,
        headers: { Origin: origin },
      });
      expect([csrf === own, response.status()]).toEqual([csrf === own, 403]);
    }
    expect(world.effects).toEqual([]);
  });

  it("stops one who asks too often", async () => {
    const world = await start({ options: { limits: { perSession: { burst: 8, perMinute: 1 } } } });
    const page = await signIn(world, "dana");
    let status = 200;
    for (let index = 0; index < 12 && status === 200; index += 1) {
      status = (await page.goto("/evaluations"))?.status() ?? 0;
    }
    expect(status).toBe(429);
  });

  it("shows an answer as it is written, also after a reload in the middle, and then the recorded one", async () => {
    const model = slowModel([calls(["search", { q: "x" }]), final("It is on its way <b>to you</b>.")]);
    const world = await start({ model });
    const page = await signIn(world, "olga");
    await send(page, "search x");
    await model.say("Let me look.");
    const draft = page.locator("[data-draft]:visible");
    await expect.poll(() => draft.textContent(), WITHIN).toBe("Let me look.");
    await model.proceed();
    await model.say("It is on ");
    await expect.poll(() => draft.textContent(), WITHIN).toBe("It is on ");
    await page.reload();
    await expect.poll(() => draft.textContent(), WITHIN).toBe("It is on ");
    await model.say("its way <b>to \u202eyou");
    await expect.poll(() => draft.textContent(), WITHIN).toBe("It is on its way <b>to \ufffdyou");
    expect(await draft.locator("b").count()).toBe(0);
    await model.proceed();
    await page.getByText("It is on its way <b>to you</b>.").waitFor();
    await expect.poll(() => draft.count(), WITHIN).toBe(0);
    expect(await page.getByText("It is on its way").count()).toBe(1);
  });

  it("takes hostile text in every field as text: markup, turned around, and 10,000 characters of it", async () => {
    const world = await start();
    const page = await signIn(world, "olga");
    const said: string[] = [];
    page.on("dialog", (dialog) => {
      said.push(dialog.message());
      void dialog.dismiss();
    });
    page.on("pageerror", (error) => said.push(error.message));
    const evil = `${MARKUP} \u202Ednufer on\u202C`;
    const inert = async (status: number | undefined, expected: number): Promise<void> => {
      // A field gives back what was written into it, as it was written.
      const html = (await page.content()).replaceAll(/<textarea[\s\S]*?<\/textarea>|value="[^"]*"/g, "");
      expect([status, /<svg\/onload|<script>alert|\u202E/.exec(html)?.[0]]).toEqual([expected, undefined]);
      expect(await page.locator("main svg:not(.chart), main script").count()).toBe(0);
    };
    const submit = async (button: string): Promise<number> => {
      const sent = page.waitForResponse((each) => each.request().isNavigationRequest());
      await page.getByRole("button", { name: button, exact: true }).click();
      const { status } = await sent.then((response) => ({ status: response.status() }));
      await page.waitForLoadState();
      return status;
    };
    // The browser would cut what is too long; whoever sends by other means is not stopped by that.
    const unlimited =
      "for (const field of document.querySelectorAll('[maxlength]')) field.removeAttribute('maxlength')";
    await page.goto("/chat");
    await page.evaluate(unlimited);
    await page.getByLabel("New conversation").fill(`${evil}${"x".repeat(10_000)}`);
    await inert(await submit("Send"), 400);
    await page.getByLabel("New conversation").fill(`refund ${evil.replaceAll(" ", "")} 5000`);
    await inert(await submit("Send"), 303);
    await page.getByText("This waits for a person.").waitFor();
    await page.goto("/runs");
    await page.getByLabel("Person").fill(evil);
    await inert(await submit("Filter"), 200);
    const [run] = await world.store.runs({ tenant: "default" });
    const dana = await signIn(world, "dana");
    await dana.goto("/approvals");
    await dana.getByRole("link", { name: /^refund/ }).click();
    await dana.evaluate(unlimited);
    await dana.getByLabel("Reason").fill("y".repeat(10_000));
    await dana.getByRole("button", { name: "Reject" }).click();
    await dana.getByText("The reason has 10000 characters").waitFor();
    await dana.getByLabel("Reason").fill(evil);
    await dana.getByRole("button", { name: "Reject" }).click();
    await dana.getByText("Rejected. Nothing was done").waitFor();
    for (const path of [`/runs/${run?.runId}`, `/chat/${run?.conversationId}`, "/runs", "/", "/audit"]) {
      await inert((await page.goto(path))?.status(), 200);
    }
    await page.goto("/chat");
    await page.getByLabel("New conversation").fill("refund O-2 5000");
    await submit("Send");
    await page.getByRole("link", { name: "Everything about this run" }).click();
    await page.locator("#cancel-note").fill(evil);
    await inert(await submit("Cancel the run"), 303);
    await page.getByText("cancel asked").waitFor();
    await page.getByRole("button", { name: "Sign out" }).click();
    await page.getByLabel("Sign-in token").fill(evil);
    await inert(await submit("Sign in"), 401);
    expect(said).toEqual([]);
    expect(world.effects).toEqual([]);
  });
});
