import { Hono } from "hono";
import { describe, expect, it } from "vitest";
import type { RequestLogEntry, ServerOptions } from "../../src/server/index.ts";
import type { PagesSession } from "../../src/server/pages/session.ts";
import { problemOf, refusal, type ServerWorld, serverWorld } from "./support.ts";

const SAME_SITE = { "sec-fetch-site": "same-origin" };

/** Pages reduced to what the server gives them. */
function probePages(setSession: (session: PagesSession) => void): NonNullable<ServerOptions["pages"]> {
  return (_deps, session) => {
    setSession(session);
    const app = new Hono();
    app.get("/", (c) => c.text(session.csrfToken(c)));
    app.post("/sign-in", async (c) => {
      const form = await c.req.parseBody();
      if (!(await session.checkForm(c, String(form["csrf"])))) return c.text("form", 403);
      const outcome = await session.signIn(c, String(form["token"]));
      return outcome.ok ? c.redirect("/", 303) : c.text(outcome.problem.code, outcome.problem.status);
    });
    app.post("/sign-out", async (c) => {
      await session.signOut(c);
      return c.redirect("/", 303);
    });
    app.post("/echo", async (c) => c.json(await c.req.parseBody()));
    return app;
  };
}

async function withPages(options: Partial<ServerOptions> = {}): Promise<ServerWorld & { session(): PagesSession }> {
  let session: PagesSession | undefined;
  const setup = await serverWorld({
    options: {
      pages: probePages((given) => {
        session = given;
      }),
      ...options,
    },
  });
  return {
    ...setup,
    session: () => {
      if (session === undefined) throw new Error("no pages");
      return session;
    },
  };
}

const cookiesOf = (response: Response) => response.headers.getSetCookie();
const jar = (response: Response) =>
  cookiesOf(response)
    .map((cookie) => cookie.split(";")[0])
    .join("; ");
const form = (fields: Record<string, string>, headers: Record<string, string>): RequestInit => ({
  method: "POST",
  body: new URLSearchParams(fields),
  headers: { "content-type": "application/x-www-form-urlencoded", ...headers },
});

async function signIn(setup: ServerWorld, id: string, headers: Record<string, string> = {}): Promise<string> {
  const link = setup.people.issue("link", "default", id);
  const first = await setup.app.request("/", { headers });
  const fields = { csrf: await first.text(), token: link };
  const response = await setup.app.request("/sign-in", form(fields, { cookie: jar(first), ...SAME_SITE, ...headers }));
  expect(response.status).toBe(303);
  return jar(response);
}

describe("sessions", () => {
  it("come from a sign-in link, live in a cookie that no script sees, and end on the server", async () => {
    const setup = await withPages();
    setup.token("olga");
    const link = setup.people.issue("link", "default", "olga");
    const first = await setup.app.request("/");
    const fields = { csrf: await first.text(), token: link };
    const post = () => setup.app.request("/sign-in", form(fields, { cookie: jar(first), ...SAME_SITE }));
    const response = await post();
    expect(cookiesOf(response)[0]).toMatch(
      /^belay_session=belay_ses_[\w-]{43}; Max-Age=28800; Path=\/; HttpOnly; SameSite=Lax$/,
    );
    const cookie = jar(response);
    const listed = await setup.app.request("/v1/runs", { headers: { cookie } });
    expect(listed.status).toBe(200);
    const used = await post();
    expect([used.status, await used.text()]).toEqual([401, "BELAY_NOT_SIGNED_IN"]);
    await setup.app.request("/sign-out", form({}, { cookie, ...SAME_SITE }));
    expect(await refusal(await setup.app.request("/v1/runs", { headers: { cookie } }))).toBe("401 BELAY_NOT_SIGNED_IN");
  });

  it("are Secure with a name that only TLS can set, behind a trusted proxy and not otherwise", async () => {
    const forwarded = { "x-forwarded-proto": "https", "x-forwarded-for": "198.51.100.7" };
    const untrusted = await withPages();
    untrusted.token("olga");
    expect(await signIn(untrusted, "olga", forwarded)).toMatch(/^belay_session=/);
    // A request without a socket comes from "local", so the proxy is shown over a socket in sockets.test.ts.
    const plain = await untrusted.app.request("/", { headers: forwarded });
    expect(plain.headers.get("strict-transport-security")).toBeNull();
  });
});

describe("cross-site requests", () => {
  it("are refused with a cookie unless they carry the session's token from one of our pages", async () => {
    const setup = await withPages();
    setup.token("olga");
    const cookie = await signIn(setup, "olga");
    const token = await (await setup.app.request("/", { headers: { cookie } })).text();
    const post = (headers: Record<string, string>) =>
      setup.app.request("/v1/runs", {
        method: "POST",
        body: JSON.stringify({ app: "desk", input: "search x" }),
        headers: { cookie, "content-type": "application/json", ...headers },
      });
    for (const headers of [
      {},
      { ...SAME_SITE },
      { "x-belay-csrf": "wrong", ...SAME_SITE },
      { "x-belay-csrf": token, "sec-fetch-site": "cross-site" },
      { "x-belay-csrf": token, "sec-fetch-site": "same-site" },
      { "x-belay-csrf": token, origin: "https://evil.example" },
      { "x-belay-csrf": token, origin: "null" },
    ] as Record<string, string>[]) {
      expect(await refusal(await post(headers))).toBe("403 BELAY_CSRF");
    }
    expect((await post({ "x-belay-csrf": token, ...SAME_SITE })).status).toBe(202);
    expect((await post({ "x-belay-csrf": token })).status).toBe(202);
    const page = await setup.app.request("/echo", form({ a: "1" }, { cookie, "sec-fetch-site": "cross-site" }));
    expect(await refusal(page)).toBe("403 BELAY_CSRF");
    expect(await (await setup.app.request("/echo", form({ a: "1" }, { cookie, ...SAME_SITE }))).json()).toEqual({
      a: "1",
    });
  });

  it("cannot sign somebody in: the form's token belongs to the browser that got it", async () => {
    const setup = await withPages();
    setup.token("olga");
    const link = setup.people.issue("link", "default", "olga");
    const first = await setup.app.request("/");
    const other = await setup.app.request("/");
    const csrf = await first.text();
    const cookies = [undefined, jar(other)];
    for (const cookie of cookies) {
      const headers = { ...SAME_SITE, ...(cookie === undefined ? {} : { cookie }) };
      expect((await setup.app.request("/sign-in", form({ csrf, token: link }, headers))).status).toBe(403);
    }
    expect(setup.people.peek(link)).toBeDefined();
  });
});

describe("every answer", () => {
  it("carries the headers that keep it unframed, unsniffed, uncached and free of foreign script", async () => {
    const setup = await withPages();
    for (const path of ["/", "/v1/runs", "/healthz", "/nowhere"]) {
      const { headers } = await setup.app.request(path);
      const policy = headers.get("content-security-policy") ?? "";
      expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'");
      expect(policy).not.toMatch(/unsafe|\*/);
      expect(policy).toContain("frame-ancestors 'none'");
      expect(headers.get("x-content-type-options")).toBe("nosniff");
      expect(headers.get("cache-control")).toBe("no-store");
      expect(headers.get("access-control-allow-origin")).toBeNull();
    }
  });

  it("is a problem with a stable code, and says nothing of a mistake of ours", async () => {
    const setup = await serverWorld({
      options: { onError: () => undefined },
    });
    const olga = setup.token("olga");
    expect(await refusal(await setup.request(olga, "GET", "/v2"))).toBe("404 BELAY_ROUTE_UNKNOWN");
    const wrong = await setup.request(olga, "POST", "/v1/approvals", {});
    expect(wrong.headers.get("allow")).toBe("GET");
    expect(await refusal(wrong)).toBe("405 BELAY_METHOD_UNKNOWN");
    const { store } = setup;
    const read = store.run;
    store.run = async () => {
      throw new Error("password=hunter2 at /srv/secret");
    };
    const broken = await setup.request(olga, "GET", "/v1/runs/run_1");
    store.run = read;
    const text = await broken.clone().text();
    expect(await refusal(broken)).toBe("500 BELAY_INTERNAL");
    expect(text).not.toMatch(/hunter2|secret/);
  });

  it("is logged without query, token, cookie or body", async () => {
    const log: RequestLogEntry[] = [];
    const setup = await withPages({ onRequest: (entry) => log.push(entry) });
    const olga = setup.token("olga");
    const response = await setup.request(olga, "POST", "/v1/runs?code=belay_lnk_x", {
      app: "desk",
      input: "topsecret",
    });
    await setup.app.request("/sign-in?code=belay_lnk_y", { headers: { cookie: "belay_session=belay_ses_z" } });
    expect(log[0]).toMatchObject({ method: "POST", path: "/v1/runs", status: 400, person: "olga" });
    expect(log[0]?.requestId).toBe(response.headers.get("x-request-id"));
    expect(JSON.stringify(log)).not.toMatch(/belay_(lnk|ses|tok)|topsecret|code=/);
  });
});

describe("limits", () => {
  it("let a session and an address send only so much, and say when to come again", async () => {
    const setup = await serverWorld({ options: { limits: { perSession: { burst: 3, perMinute: 60 } } } });
    const [olga, paul] = [setup.token("olga"), setup.token("paul")];
    for (let count = 0; count < 3; count += 1) expect((await setup.request(olga, "GET", "/v1/runs")).status).toBe(200);
    const limited = await setup.request(olga, "GET", "/v1/runs");
    expect(limited.headers.get("retry-after")).toBe("1");
    expect(await refusal(limited)).toBe("429 BELAY_RATE_LIMITED");
    expect((await setup.request(paul, "GET", "/v1/runs")).status).toBe(200);
    setup.clock.advance(1000);
    expect((await setup.request(olga, "GET", "/v1/runs")).status).toBe(200);
    const address = await serverWorld({ options: { limits: { perAddress: { burst: 2, perMinute: 1 } } } });
    const codes = [];
    for (let count = 0; count < 3; count += 1) codes.push((await address.app.request("/v1/runs")).status);
    expect(codes).toEqual([401, 401, 429]);
    expect((await address.app.request("/healthz")).status).toBe(200);
  });

  it("slow down whoever tries tokens", async () => {
    const setup = await serverWorld();
    const codes = new Set<number>();
    for (let count = 0; count < 11; count += 1) {
      codes.add((await setup.request(`belay_tok_${"a".repeat(43)}`, "GET", "/v1/runs")).status);
    }
    expect([...codes]).toEqual([401, 429]);
  });

  it("refuse a body that is too large or for another host", async () => {
    const setup = await serverWorld({ options: { hosts: ["belay.example.com"] } });
    const olga = setup.token("olga");
    const body = { app: "desk", input: "x".repeat(70_000) };
    const large = await setup.request(olga, "POST", "/v1/runs", body);
    expect(large.headers.get("connection")).toBe("close");
    expect(await refusal(large)).toBe("413 BELAY_BODY_TOO_LARGE");
    const rebound = await setup.app.request("http://evil.example:4180/healthz");
    expect(await refusal(rebound)).toBe("421 BELAY_HOST_UNKNOWN");
    for (const host of ["belay.example.com", "127.0.0.1:4180", "localhost:1", "[::1]:4180"]) {
      expect((await setup.app.request(`http://${host}/healthz`)).status).toBe(200);
    }
  });
});

describe("health", () => {
  it("tells alive from ready", async () => {
    let isReady = true;
    const setup = await serverWorld({ options: { isReady: () => isReady } });
    expect((await setup.app.request("/readyz")).status).toBe(200);
    isReady = false;
    expect((await setup.app.request("/healthz")).status).toBe(200);
    expect(await problemOf(await setup.app.request("/readyz"))).toMatchObject({ status: 503, code: "BELAY_NOT_READY" });
    isReady = true;
    await setup.store.close();
    const closed = await setup.app.request("/readyz");
    expect(closed.headers.get("retry-after")).toBe("2");
    expect(await refusal(closed)).toBe("503 BELAY_STORE_CLOSED");
  });
});
