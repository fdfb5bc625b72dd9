import { describe, expect, it } from "vitest";
import { hostileAgent, hostileModel, LONG, MARKUP } from "./hostile.ts";
import { type TestConsole, testConsole } from "./support.ts";

const WHO = `mallory ${MARKUP}`;
const NOTE = `reason ${MARKUP}\u202E\n\n\n\nend`;

async function hostileConsole(): Promise<
  TestConsole & { readonly paths: readonly string[]; readonly request: string }
> {
  const console = testConsole({ agent: hostileAgent(), model: hostileModel() });
  const { runId, conversationId } = await console.run(`C-07 says ${LONG}`, WHO);
  const [row] = await console.store.approvals({ tenant: "default", runId });
  const size = await console.store.audit.size();
  const request = `/approvals/${row?.approvalId}`;
  return {
    ...console,
    request,
    paths: [
      ...["/", "/chat", `/chat/${conversationId}`, "/approvals", request, "/runs", `/runs/${runId}`, "/audit"],
      `/runs?person=${encodeURIComponent(WHO)}&reason=${encodeURIComponent(MARKUP)}&agent=${encodeURIComponent(MARKUP)}`,
      ...[
        "/approvals?list=approved",
        `/sign-in?token=${encodeURIComponent(MARKUP)}&next=${encodeURIComponent(MARKUP)}`,
      ],
      ...[`/${encodeURIComponent(MARKUP)}`, `/runs/${encodeURIComponent(MARKUP)}`],
      ...Array.from({ length: size }, (_, seq) => `/audit/${seq}`),
    ],
  };
}

/** Everything between tags and in attributes, as it is written. */
function expectInert(path: string, html: string): void {
  const wrong = html.match(
    /<svg\/|<script>|<svg onload|onload=alert\(1\)>|--><\/textarea>|href="javascript|\u202E|[^\P{Cc}\n]|[\u{e0000}-\u{e007f}]/u,
  );
  expect([path, wrong?.[0]]).toEqual([path, undefined]);
}

describe("hostile data", () => {
  it("is text on every page, before and after an answer", async () => {
    const console = await hostileConsole();
    for (const path of console.paths) {
      expectInert(path, await (await console.get(path)).text());
    }
    const [row] = await console.store.approvals({ tenant: "default" });
    const fields = { answer: "approved", digest: row?.argsHash ?? "", note: NOTE };
    expect((await console.post(`${console.request}/decide`, fields)).status).toBe(303);
    await console.settle();
    for (const path of console.paths) {
      const text = await (await console.get(path)).text();
      expectInert(path, text);
    }
    const run = await (await console.get(console.paths[6] ?? "")).text();
    expect(run).toContain("&lt;script&gt;alert(2)&lt;/script&gt;");
  });

  it("comes back from a refused form as text", async () => {
    const console = await hostileConsole();
    const rejected = await console.post(`${console.request}/decide`, {
      answer: "approved",
      digest: MARKUP,
      note: NOTE,
    });
    expect(rejected.status).toBe(412);
    expectInert("decide", await rejected.text());
    const sent = await console.post(
      "/chat",
      { app: "shop", text: `${MARKUP} ${"y".repeat(600)}`, key: MARKUP },
      "olga",
    );
    expect(sent.status).toBe(413);
    expectInert("chat", await sent.text());
  });

  it("cannot turn, hide or push away what a person decides on", async () => {
    const console = await hostileConsole();
    const text = await (await console.get(console.request)).text();
    const exact = text.slice(text.indexOf("Exact arguments"), text.indexOf("What the run had looked up"));
    expect(exact).toContain("U+202E");
    expect(exact.match(/U\+000A ×\d+/)?.[0]).toBe("U+000A ×300");
    expect(exact).toContain("U+E0070");
    expect(exact).not.toContain("<br/><br/><br/>");
    // Amount and payee stand before anything that a stranger wrote, and are short.
    const head = text.slice(text.indexOf("request-head"), text.indexOf('id="decision"'));
    expect(head).toContain("1,234.00");
    expect(head).toContain("123,400 cents");
    expect(head).toContain("ACME");
    expect(head.replaceAll(/<[^>]+>/g, "").length).toBeLessThan(400);
  });

  it("is cut short, with the whole of it one click away", async () => {
    const console = await hostileConsole();
    const text = await (await console.get(console.paths[2] ?? "")).text();
    expect(text).toContain("… cut here");
    const whole = `Show all ${`C-07 says ${LONG}`.length.toLocaleString("en")} characters`;
    expect(text).toContain(whole);
    expect(text.slice(text.indexOf(whole))).toContain("x".repeat(10_000));
    const [before = ""] = text.split(whole);
    expect(before.slice(before.lastIndexOf("C-07 says"))).not.toContain("x".repeat(2_001));
  });
});
