import { describe, expect, it } from "vitest";
import { createPages } from "../../src/server/pages/index.ts";
import { refusal, type ServerChange, type ServerWorld, serverWorld } from "./support.ts";

const BROWSER = { accept: "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8" };

async function withPages(options: ServerChange["options"] = {}): Promise<ServerWorld & { readonly cookie: string }> {
  const setup = await serverWorld({ options: { pages: createPages, ...options } });
  setup.people.add({ tenant: "default", id: "dana", name: "Dana", roles: ["approver"] });
  const redeemed = setup.people.redeem(setup.people.issue("link", "default", "dana"));
  return { ...setup, cookie: `belay_session=${redeemed?.session}` };
}

/** Status, heading and code of a page that tells a problem, and what holds of each: headers, no script of its own. */
async function problemPage(response: Response): Promise<readonly [number, string, string]> {
  const text = await response.text();
  expect(response.headers.get("content-type")).toMatch(/^text\/html/);
  expect(response.headers.get("content-security-policy")).toContain("default-src 'none'");
  expect(response.headers.get("cache-control")).toBe("no-store");
  expect(text).not.toMatch(/<script(?! src="\/assets\/)/);
  const [, heading = ""] = /<h1>([^<]*)<\/h1>/.exec(text) ?? [];
  const [, code = ""] = /code <code>([^<]*)<\/code>/.exec(text) ?? [];
  return [response.status, heading, code];
}

describe("a browser is told of a problem by a page, and a program by RFC 9457", () => {
  const cases: readonly (readonly [
    what: string,
    path: string,
    init: RequestInit,
    page: readonly unknown[],
    api: string,
  ])[] = [
    ["an unknown page", "/nowhere", {}, [404, "There is nothing here", "not_found"], ""],
    ["an unknown run", "/runs/run_none", {}, [404, "There is nothing here", "not_found"], ""],
    [
      "an address of the API that is not there",
      "/v1/nowhere",
      {},
      [404, "There is nothing here", "BELAY_ROUTE_UNKNOWN"],
      "404 BELAY_ROUTE_UNKNOWN",
    ],
    [
      "an unknown run of the API",
      "/v1/runs/x",
      {},
      [404, "There is nothing here", "BELAY_RUN_UNKNOWN"],
      "404 BELAY_RUN_UNKNOWN",
    ],
    [
      "a bad query",
      "/v1/runs?limit=x",
      {},
      [400, "That could not be read", "BELAY_REQUEST_INVALID"],
      "400 BELAY_REQUEST_INVALID",
    ],
    [
      "a method that a page does not take",
      "/runs",
      { method: "POST" },
      [405, "That cannot be done here", "method_unknown"],
      "",
    ],
    [
      "a method that the API does not take",
      "/v1/audit/checkpoint",
      { method: "POST" },
      [403, "You may not do this", "BELAY_CSRF"],
      "403 BELAY_CSRF",
    ],
    [
      "a form of another site",
      "/chat",
      { method: "POST", headers: { "sec-fetch-site": "cross-site" } },
      [403, "You may not do this", "BELAY_CSRF"],
      "403 BELAY_CSRF",
    ],
    [
      "a form without its token",
      "/chat",
      { method: "POST", headers: { "sec-fetch-site": "same-origin" }, body: new URLSearchParams({ text: "x" }) },
      [403, "You may not do this", "form_not_ours"],
      "",
    ],
    [
      "a body that is too large",
      "/chat",
      { method: "POST", headers: { "sec-fetch-site": "same-origin" }, body: "x".repeat(70_000) },
      [413, "That is too long", "BELAY_BODY_TOO_LARGE"],
      "413 BELAY_BODY_TOO_LARGE",
    ],
  ];
  it.each(cases)("%s", async (_what, path, init, page, api) => {
    const setup = await withPages();
    const send = (accept: Readonly<Record<string, string>>) =>
      setup.app.request(path, { ...init, headers: { ...init.headers, cookie: setup.cookie, ...accept } });
    expect(await problemPage(await send(BROWSER))).toEqual(page);
    if (api !== "") expect(await refusal(await send({ accept: "application/json" }))).toBe(api);
    if (api !== "") expect(await refusal(await send({}))).toBe(api);
  });

  it("too many requests, with the time to wait", async () => {
    const setup = await withPages({ limits: { perAddress: { burst: 1, perMinute: 1 } } });
    await setup.app.request("/sign-in", { headers: BROWSER });
    const limited = await setup.app.request("/sign-in", { headers: BROWSER });
    expect(limited.headers.get("retry-after")).toBe("60");
    expect(await problemPage(limited)).toEqual([429, "Too many requests", "BELAY_RATE_LIMITED"]);
    expect(await refusal(await setup.app.request("/v1/runs"))).toBe("429 BELAY_RATE_LIMITED");
  });

  it("another host's name", async () => {
    const setup = await withPages({ hosts: ["belay.example.com"] });
    const page = await setup.app.request("http://evil.example/", { headers: BROWSER });
    expect(await problemPage(page)).toEqual([421, "This server does not answer for that name", "BELAY_HOST_UNKNOWN"]);
  });

  it("a mistake of the server and a store that does not answer, of which only the operator learns more", async () => {
    const told: unknown[] = [];
    const setup = await withPages({ onError: (error) => told.push(error) });
    const get = (path: string) => setup.app.request(path, { headers: { cookie: setup.cookie, ...BROWSER } });
    const { store } = setup;
    const read = store.runs;
    store.runs = async () => {
      throw new Error("password=hunter2 at /srv/secret");
    };
    const broken = await get("/runs");
    expect(await broken.clone().text()).not.toMatch(/hunter2|secret/);
    expect(await problemPage(broken)).toEqual([500, "Something went wrong", "BELAY_INTERNAL"]);
    expect(String(told)).toContain("hunter2");
    store.runs = read;
    await store.close();
    expect(await problemPage(await get("/runs"))).toEqual([503, "Not available at the moment", "BELAY_STORE_CLOSED"]);
  });
});
