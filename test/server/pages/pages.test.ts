import { describe, expect, it } from "vitest";
import { seedConsole } from "./seed.ts";
import { testConsole } from "./support.ts";

const SECTIONS = ["/", "/chat", "/approvals", "/runs", "/audit", "/evaluations"];

describe("every page", () => {
  it("is there with nothing in the store", async () => {
    const console = testConsole();
    for (const path of [...SECTIONS, "/approvals?list=expired", "/runs?status=failed&reason=halted&person=nobody"]) {
      const response = await console.get(path);
      expect([path, response.status]).toEqual([path, 200]);
      expect(await response.text()).toMatch(/Nothing|There are no|none yet|No run/);
    }
  });

  it("is there with two weeks of a support desk", async () => {
    const console = testConsole({ start: Date.now() - 13 * 86_400_000 });
    await seedConsole(console);
    const [run] = await console.store.runs({ tenant: "default" });
    const approvals = await console.store.approvals({ tenant: "default" });
    const paths = [
      ...SECTIONS,
      ...[
        "/approvals?list=approved",
        "/approvals?list=rejected",
        "/approvals?list=expired",
        "/audit?to=40",
        "/audit/7",
      ],
      ...approvals.map(({ approvalId }) => `/approvals/${approvalId}`),
      `/runs/${run?.runId}`,
      `/chat/${run?.conversationId}`,
    ];
    for (const path of paths) {
      const response = await console.get(path);
      const text = await response.text();
      expect([path, response.status]).toEqual([path, 200]);
      expect(text.startsWith('<!doctype html><html lang="en">')).toBe(true);
      expect(text.match(/<h1>/g)).toHaveLength(1);
      expect([path, text.match(/undefined|\[object|NaN|Invalid Date/)]).toEqual([path, null]);
    }
  });

  it("forbids inline script and style, has neither, and is kept in no cache", async () => {
    const console = testConsole();
    const { runId } = await console.run("Please refund order O-1011");
    for (const path of [...SECTIONS, `/runs/${runId}`, "/sign-in", "/nothing"]) {
      const response = await console.get(path);
      const policy = response.headers.get("Content-Security-Policy") ?? "";
      expect(policy).toContain("script-src 'self'");
      expect(policy).toContain("style-src 'self'");
      expect(policy).not.toContain("unsafe");
      expect(response.headers.get("Cache-Control")).toBe("no-store");
      const text = await response.text();
      expect(text).not.toMatch(/\son[a-z]+=|\sstyle=|<style|javascript:/i);
      expect(text.match(/<script(?![^>]* src="\/assets\/)/g)).toBe(null);
    }
  });

  it("needs a sign-in, and comes back to itself after it", async () => {
    const console = testConsole();
    for (const path of [...SECTIONS, "/runs/run_1", "/approvals/apr_1", "/audit/1/proof.json"]) {
      const response = await console.get(path, "");
      expect([response.status, response.headers.get("Location")]).toEqual([
        303,
        `/sign-in?next=${encodeURIComponent(path)}`,
      ]);
    }
    expect((await console.post("/approvals/apr_1/decide", { answer: "approved" }, "")).status).toBe(401);
  });
});

describe("problems in plain words", () => {
  it("says what is not there", async () => {
    const console = testConsole();
    for (const path of [
      "/nothing",
      "/runs/run_0",
      "/approvals/apr_0",
      "/chat/cnv_0",
      "/audit/99",
      "/audit/x",
      "/runs/run_0/values/00",
    ]) {
      const response = await console.get(path);
      expect([path, response.status]).toEqual([path, 404]);
      expect(await response.text()).toContain("There is nothing here");
    }
  });

  it("leaves the addresses of the API to the API", async () => {
    const response = await testConsole().get("/v1/unknown");
    expect([response.status, await response.text()]).toEqual([404, "404 Not Found"]);
  });

  it("says how long to wait", async () => {
    const console = testConsole({
      change: (session) => ({
        ...session,
        cancel: async () => ({
          ok: false,
          problem: { status: 429, code: "too_many", detail: "Slow down.", retryAfterS: 7 },
        }),
      }),
    });
    const { runId } = await console.run("Please refund order O-1011");
    const response = await console.post(`/runs/${runId}/cancel`, {}, "olga");
    const text = await response.text();
    expect([response.status, response.headers.get("Retry-After")]).toEqual([429, "7"]);
    expect(text).toContain("Too many requests");
    expect(text).toContain("You can try again in 7 s.");
  });

  it("keeps the text of an exception off the page", async () => {
    const console = testConsole({
      change: (session) => ({
        ...session,
        allows: () => {
          throw new Error("secret-of-the-operator at /home/app/db");
        },
      }),
    });
    const response = await console.get("/audit");
    const text = await response.text();
    expect(response.status).toBe(500);
    expect(text).toContain("Something went wrong");
    expect(text).not.toContain("secret-of-the-operator");
  });

  it("refuses a form that is not ours", async () => {
    const console = testConsole();
    const { runId } = await console.run("Please refund order O-1011");
    const [row] = await console.store.approvals({ tenant: "default" });
    for (const [path, fields] of [
      [`/approvals/${row?.approvalId}/decide`, { answer: "approved", digest: row?.argsHash ?? "" }],
      [`/runs/${runId}/cancel`, {}],
      ["/chat", { app: "shop", text: "Refund order O-1001", key: "1" }],
      ["/audit/verify", {}],
      ["/theme", { theme: "dark" }],
      ["/sign-out", {}],
    ] as const) {
      const response = await console.post(path, { ...fields, csrf: "of another site" });
      expect([path, response.status]).toEqual([path, 403]);
    }
    expect((await console.store.run({ tenant: "default", runId }))?.status).toBe("waiting");
    expect(await console.store.runs({ tenant: "default" })).toHaveLength(1);
  });
});

describe("signing in", () => {
  it("takes a token by a form, and never by the link alone", async () => {
    const console = testConsole();
    const opened = await console.get("/sign-in?token=token-dana&next=/approvals", "");
    const page = await opened.text();
    expect([opened.status, opened.headers.get("Set-Cookie")]).toEqual([200, null]);
    expect(page).toContain('value="token-dana"');
    const sent = await console.post("/sign-in", { token: "token-dana", next: "/approvals" }, "");
    expect([sent.status, sent.headers.get("Location")]).toEqual([303, "/approvals"]);
    expect(sent.headers.get("Set-Cookie")).toContain("who=dana");
  });

  it("says when a token is not known, and repeats it nowhere", async () => {
    const response = await testConsole().post("/sign-in", { token: "stolen-token" }, "");
    const text = await response.text();
    expect(response.status).toBe(401);
    expect(text).toContain("This token is not known");
    expect(text).not.toContain("stolen-token");
  });

  it("leads to no other site", async () => {
    const console = testConsole();
    for (const next of ["//evil.test", "https://evil.test", "/\\evil.test", "javascript:alert(1)", "/ok path", ""]) {
      const response = await console.post("/sign-in", { token: "token-dana", next }, "");
      expect([next, response.headers.get("Location")]).toEqual([next, "/"]);
    }
  });

  it("remembers a theme without a script", async () => {
    const console = testConsole();
    const response = await console.post("/theme", { theme: "dark", from: "/runs" });
    expect([response.status, response.headers.get("Location")]).toEqual([303, "/runs"]);
    const cookie = response.headers.get("Set-Cookie")?.split(";")[0] ?? "";
    const page = await console.app.request("/runs", { headers: { Cookie: `who=dana; ${cookie}` } });
    expect(await page.text()).toContain('<html lang="en" data-theme="dark">');
    const junk = await console.app.request("/runs", { headers: { Cookie: `who=dana; belay_theme="><script>` } });
    expect(await junk.text()).toContain('<html lang="en">');
  });
});

describe("files of the pages", () => {
  it("are served with a tag, and not again to one who has them", async () => {
    const console = testConsole();
    const links = (await (await console.get("/")).text()).match(/\/assets\/[a-z.]+\?v=[0-9a-f]+/g) ?? [];
    expect(links).toHaveLength(4);
    for (const link of links) {
      const first = await console.get(link, "");
      const etag = first.headers.get("ETag") ?? "";
      expect([first.status, first.headers.get("X-Content-Type-Options")]).toEqual([200, "nosniff"]);
      expect((await first.text()).length).toBeGreaterThan(100);
      const again = await console.app.request(link, { headers: { "If-None-Match": etag } });
      expect([again.status, await again.text()]).toEqual([304, ""]);
    }
    expect((await console.get("/assets/constructor", "")).status).toBe(404);
  });

  it("are scripts that parse and refer to nothing but each other", async () => {
    const console = testConsole();
    for (const name of ["live.js", "clocks.js"]) {
      const text = await (await console.get(`/assets/${name}`, "")).text();
      expect(() => new Function(text)).not.toThrow();
      expect(text).not.toMatch(/__vite|__name|import\(|require\(|: string|: void/);
    }
  });
});

describe("lists", () => {
  it("filters runs by state, reason, agent and person, and pages through them", async () => {
    const console = testConsole();
    for (let index = 0; index < 55; index += 1) {
      await console.run(`Where is order O-10${String(10 + (index % 20))}?`, index % 2 === 0 ? "olga" : "C-07");
      console.clock.advance(1000);
    }
    await console.run("Please refund order O-1011");
    const links = async (path: string) => {
      const text = await (await console.get(path)).text();
      return {
        runs: [...text.matchAll(/href="\/runs\/(run_[a-z0-9]+)"/g)].map((match) => match[1]),
        next: text.match(/href="(\/runs\?[^"]*before=[^"]+)"/)?.[1]?.replaceAll("&amp;", "&"),
      };
    };
    const first = await links("/runs");
    const second = await links(first.next ?? "");
    expect([first.runs.length, second.runs.length, second.next]).toEqual([50, 6, undefined]);
    expect(new Set([...first.runs, ...second.runs]).size).toBe(56);
    expect((await links("/runs?status=waiting")).runs).toHaveLength(1);
    expect((await links("/runs?person=C-07")).runs).toHaveLength(27);
    expect((await links("/runs?reason=completed&person=olga")).runs).toHaveLength(28);
    expect((await links("/runs?reason=halted")).runs).toEqual([]);
    expect((await links("/runs?agent=stockroom")).runs).toEqual([]);
    expect((await links("/runs?agent=shop&status=junk&before=x&run=y")).runs).toHaveLength(50);
  });

  it("shows a role only what it may do", async () => {
    const console = testConsole();
    const { conversationId, runId } = await console.run("Please refund order O-1011");
    const [row] = await console.store.approvals({ tenant: "default" });
    const viewer = async (path: string) => (await console.get(path, "vik")).text();
    expect(await viewer("/chat")).not.toContain("<textarea");
    expect(await viewer(`/chat/${conversationId}`)).not.toContain("<textarea");
    expect(await viewer(`/runs/${runId}`)).not.toContain("Cancel the run");
    const request = await viewer(`/approvals/${row?.approvalId}`);
    expect(request).toContain("You cannot decide this: your role may not decide.");
    expect(request).not.toContain('value="approved"');
    expect(await viewer("/approvals")).toContain("not yours to decide");
    expect((await console.post("/chat", { app: "shop", text: "Refund O-1001", key: "1" }, "vik")).status).toBe(403);
    expect((await console.post(`/runs/${runId}/cancel`, {}, "vik")).status).toBe(403);
  });
});
