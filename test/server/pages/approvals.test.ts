import { describe, expect, it } from "vitest";
import type { ApprovalRow, ApprovalsQuery } from "../../../src/journal/index.ts";
import { type TestConsole, testConsole } from "./support.ts";

const DAY_MS = 86_400_000;
const ORDER = "O-1011";

async function waiting(console: TestConsole, as = "olga"): Promise<ApprovalRow> {
  const { runId } = await console.run(`Please refund order ${ORDER}`, as);
  const [row] = await console.store.approvals({ tenant: "default", runId });
  if (row === undefined) throw new Error("nobody was asked");
  return row;
}

const refunded = (console: TestConsole, order = ORDER): number => {
  const found = console.world.order(order);
  return found === undefined ? -1 : found.refundedPaise;
};

const decide = (console: TestConsole, row: ApprovalRow, answer: string, as: string, note = "") =>
  console.post(`/approvals/${row.approvalId}/decide`, { answer, digest: row.argsHash, note }, as);

describe("the inbox", () => {
  it("shows amount, age and what is left of the time, oldest first", async () => {
    const console = testConsole();
    await waiting(console);
    console.clock.advance(60 * 60_000);
    await console.run("Please refund order O-1005");
    console.clock.advance(30 * 60_000);
    const text = await (await console.get("/approvals")).text();
    expect(text.indexOf("Rs 3,200.00")).toBeLessThan(text.indexOf("Rs 4,000.00"));
    expect(text).toContain(">1 h 30 min<");
    expect(text).toContain(">22 h 30 min<");
    expect(text).toContain(">23 h 30 min<");
  });

  it("opens with more waiting than it shows", async () => {
    const console = testConsole();
    const row = await waiting(console);
    const many = Array.from({ length: 101 }, (_, at) => ({ ...row, approvalId: `apr_${at}` }));
    const approvals = async ({ after, limit = 1000 }: ApprovalsQuery) => {
      const from = many.findIndex(({ approvalId }) => approvalId === after?.approvalId) + 1;
      return many.slice(from, from + limit);
    };
    const crowded = testConsole({ store: Object.assign(Object.create(console.store), { approvals }) });
    const text = await (await crowded.get("/approvals")).text();
    expect(text.match(/href="\/approvals\/apr_/g)).toHaveLength(100);
    const next = /href="(\/approvals\?list=waiting[^"]+)">Next 100/.exec(text)?.[1]?.replaceAll("&amp;", "&") ?? "";
    const second = await (await crowded.get(next)).text();
    expect(new Set([...text.matchAll(/apr_\d+/g), ...second.matchAll(/apr_\d+/g)].map(([id]) => id)).size).toBe(101);
    expect(second).not.toContain("Next 100");
    expect(second).toContain("First page");
    expect(text).toContain("9+");
  });

  it("presents no question that was changed in the store as one that can be decided", async () => {
    const console = testConsole();
    const row = { ...(await waiting(console)), args: { order_id: ORDER, amount_paise: 500 } };
    const changed = Object.assign(Object.create(console.store), {
      approval: async () => row,
      approvals: async () => [row],
    });
    const tampered = testConsole({ store: changed });
    const inbox = await (await tampered.get("/approvals")).text();
    expect(inbox).toContain("changed in the store since it was asked");
    expect(inbox).not.toContain("Rs 5.00");
    const page = await (await tampered.get(`/approvals/${row.approvalId}`)).text();
    expect(page).toContain("Nobody can decide it.");
    expect(page).not.toContain('value="approved"');
    const whole = await (await console.get(`/approvals/${row.approvalId}`)).text();
    expect(whole).toContain('value="approved"');
  });
});

describe("one request", () => {
  it("tells who asked, in whose words, for what, and why", async () => {
    const console = testConsole();
    const row = await waiting(console);
    const text = await (await console.get(`/approvals/${row.approvalId}`)).text();
    for (const part of [
      ...["Rs 3,200.00", "320,000 paise", `Please refund order ${ORDER}`, "olga (person)", "AMOUNT_ABOVE_AUTO"],
      ...["rule auto_limit", "Cannot be undone once it has happened.", row.argsHash, "Bookshelf", "get_order"],
    ]) {
      expect(text).toContain(part);
    }
    // The decision stands near the top: before the words and the arguments.
    expect(text.indexOf("Rs 3,200.00")).toBeLessThan(text.indexOf('value="approved"'));
    expect(text.indexOf('value="approved"')).toBeLessThan(text.indexOf('id="words"'));
  });

  it("is approved by another person, and the money moves once", async () => {
    const console = testConsole();
    const row = await waiting(console);
    const answers = await Promise.all([
      decide(console, row, "approved", "dana"),
      decide(console, row, "approved", "dana"),
    ]);
    await console.settle();
    expect(answers.map(({ status }) => status).sort()).toEqual([303, 409]);
    expect(refunded(console)).toBe(320_000);
    const text = await (await console.get(`/approvals/${row.approvalId}`)).text();
    expect(text).toContain("It was done, once.");
    expect(text).not.toContain('value="approved"');
  });

  it("gives two people at once one effect and a clear answer", async () => {
    const console = testConsole();
    const row = await waiting(console);
    const [one, other] = await Promise.all([
      decide(console, row, "approved", "dana"),
      decide(console, row, "rejected", "lee", "not this month"),
    ]);
    await console.settle();
    const loser = one?.status === 409 ? one : other;
    expect([one?.status, other?.status].sort()).toEqual([303, 409]);
    expect(await loser?.text()).toMatch(
      /(dana was faster: this is already approved|lee was faster: this is already rejected)/,
    );
    const stored = await console.store.approval("default", row.approvalId);
    expect(refunded(console)).toBe(stored?.status === "approved" ? 320_000 : 0);
  });

  it("is not the requester's to decide", async () => {
    const console = testConsole();
    const row = await waiting(console, "lee");
    const text = await (await console.get(`/approvals/${row.approvalId}`, "lee")).text();
    expect(text).toContain("You cannot decide this: you asked for it, and another person has to.");
    const response = await decide(console, row, "approved", "lee");
    expect(response.status).toBe(403);
    expect(await response.text()).toContain("You may not decide this");
    expect(refunded(console)).toBe(0);
  });

  it("is rejected with a reason, and only with one", async () => {
    const console = testConsole();
    const row = await waiting(console);
    const without = await decide(console, row, "rejected", "dana", "  ");
    expect([without.status, await without.text()]).toEqual([
      422,
      expect.stringContaining("A rejection needs a reason."),
    ]);
    const long = await decide(console, row, "approved", "dana", "x".repeat(1001));
    expect([long.status, (await long.text()).includes("the limit is 1000")]).toEqual([413, true]);
    expect((await decide(console, row, "rejected", "dana", "Not covered.")).status).toBe(303);
    await console.settle();
    const text = await (await console.get(`/approvals/${row.approvalId}`)).text();
    expect(text).toContain("Rejected. Nothing was done");
    expect(text).toContain("Not covered.");
    expect(refunded(console)).toBe(0);
  });

  it("keeps what was written when an answer is refused", async () => {
    const console = testConsole();
    const row = await waiting(console);
    const fields = { answer: "approved", digest: "0".repeat(64), note: "my careful reasons" };
    const response = await console.post(`/approvals/${row.approvalId}/decide`, fields, "dana");
    const text = await response.text();
    expect(response.status).toBe(412);
    expect(text).toContain("These are not the arguments that you were shown.");
    expect(refunded(console)).toBe(0);
  });

  it("explains that it has expired, and takes no answer then", async () => {
    const console = testConsole();
    const row = await waiting(console);
    console.clock.advance(DAY_MS + 1);
    const before = await (await console.get(`/approvals/${row.approvalId}`)).text();
    expect(before).toContain("Expired. Nothing was done.");
    expect(before).not.toContain('value="approved"');
    const response = await decide(console, row, "approved", "dana");
    await console.settle();
    expect([response.status, (await response.text()).includes("Too late")]).toEqual([410, true]);
    expect(refunded(console)).toBe(0);
    expect(await (await console.get("/approvals?list=expired")).text()).toContain(row.approvalId);
  });

  it("explains a world that has changed, with the facts of then", async () => {
    const console = testConsole();
    const row = await waiting(console);
    const other = await console.run(`Please refund order ${ORDER}`, "C-11");
    const [second] = await console.store.approvals({ tenant: "default", runId: other.runId });
    if (second === undefined) throw new Error("nobody was asked the second time");
    await decide(console, second, "approved", "dana");
    await console.settle();
    await decide(console, row, "approved", "dana");
    await console.settle();
    const text = await (await console.get(`/approvals/${row.approvalId}`)).text();
    expect(text).toContain("The facts had changed. Nothing was done.");
    expect(text).toContain("AMOUNT_EXCEEDS_REMAINING");
    expect(text).toContain("remainingPaise");
    expect(refunded(console)).toBe(320_000);
  });

  it("is void when its run was cancelled", async () => {
    const console = testConsole();
    const row = await waiting(console);
    await console.post(`/runs/${row.runId}/cancel`, { note: "by mistake" }, "olga");
    await console.settle();
    const text = await (await console.get(`/approvals/${row.approvalId}`)).text();
    expect(text).toContain("Void. Nothing was done.");
  });

  it("tells how many people it still needs", async () => {
    const console = testConsole({
      change: (session) => ({
        ...session,
        signatures: async () => ({ need: 2, given: [{ personId: "lee", at: 0 }] }),
        decide: async (_c, { approvalId }) => {
          const approval = await console.store.approval("default", approvalId);
          if (approval === undefined) throw new Error("unknown");
          return { ok: true, value: { status: "counted", approval, have: 1, need: 2 } };
        },
      }),
    });
    const row = await waiting(console);
    expect(await (await console.get(`/approvals/${row.approvalId}`)).text()).toContain(
      "Needs 2 people; 1 has said yes.",
    );
    expect(await (await decide(console, row, "approved", "dana")).text()).toContain("Your yes is counted: 1 of 2.");
  });

  it("asks again for an answer that is neither yes nor no", async () => {
    const console = testConsole();
    const row = await waiting(console);
    expect((await decide(console, row, "maybe", "dana")).status).toBe(400);
    expect((await console.store.approval("default", row.approvalId))?.status).toBe("pending");
  });
});
