import { serve } from "@hono/node-server";
import type { Browser, Page } from "playwright-core";
import { afterAll, beforeAll, describe, expect, it, onTestFinished } from "vitest";
import { createPages } from "../../../src/server/pages/index.ts";
import { type ServerChange, type ServerWorld, serverWorld } from "../support.ts";
import { chromiumProblem, launchBrowser } from "./browser-support.ts";

const problem = chromiumProblem();
if (problem !== undefined) process.stderr.write(`${problem}\n`);

const TIMEOUT_MS = 30_000;

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
});
