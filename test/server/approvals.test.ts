import { describe, expect, it } from "vitest";
import { type ApprovalRow, createMemoryStore } from "../../src/journal/index.ts";
import { recoverVotes } from "../../src/server/index.ts";
import { createVotes } from "../../src/server/people/votes.ts";
import { ASK_ABOVE_1000 } from "../engine/support.ts";
import { problemOf, refusal, type ServerChange, type ServerWorld, serverWorld } from "./support.ts";

interface Asked extends ServerWorld {
  readonly olga: string;
  readonly dana: string;
  readonly approvalId: string;
  readonly argsHash: string;
  decide(token: string, answer?: "approve" | "reject", change?: object): Promise<Response>;
}

/** A server with one open question: a refund of 5,000 that olga asked for in a customer's name. */
async function asked(change: ServerChange = {}, input = "refund O-1 5000"): Promise<Asked> {
  const setup = await serverWorld(change);
  const olga = setup.token("olga", ["operator", "approver"]);
  const dana = setup.token("dana", ["approver"]);
  await setup.run(olga, input, { customer: "C-1" });
  const question = await setup.question();
  return {
    ...setup,
    ...question,
    olga,
    dana,
    decide: (token, answer = "approve", more = {}) =>
      setup.request(token, "POST", `/v1/approvals/${question.approvalId}:decide`, {
        answer,
        argsHash: question.argsHash,
        ...more,
      }),
  };
}

const MANY: ServerChange["approvals"] = [
  { tools: ["refund"], amount: { argument: "cents", below: 10_000 } },
  { tools: ["refund"], amount: { argument: "cents", from: 10_000 }, approvals: 2 },
];

describe("GET /v1/approvals", () => {
  it("lists questions oldest first, in pages, with everything that a person has to see", async () => {
    const setup = await serverWorld();
    const olga = setup.token("olga");
    for (const order of ["A", "B", "C"]) {
      await setup.run(olga, `refund ${order} 5000`);
      setup.clock.advance(10);
    }
    const first = await setup.request(olga, "GET", "/v1/approvals?status=pending&limit=2");
    const page = (await first.json()) as { approvals: { args: { order: string } }[]; nextCursor: string };
    expect(page.approvals.map(({ args }) => args.order)).toEqual(["A", "B"]);
    expect(page.approvals[0]).toMatchObject({ tool: "refund", code: "ABOVE_LIMIT", requester: { id: "olga" } });
    const second = await setup.request(olga, "GET", `/v1/approvals?status=pending&limit=2&cursor=${page.nextCursor}`);
    const last = (await second.json()) as typeof page;
    expect(last.approvals.map(({ args }) => args.order)).toEqual(["C"]);
    expect(last.nextCursor).toBeUndefined();
  });

  it("pages through more than one read of the store gives, also when what was last seen is answered meanwhile", async () => {
    const setup = await serverWorld();
    const olga = setup.token("olga");
    const dana = setup.token("dana", ["approver"]);
    for (let index = 0; index < 23; index += 1) await setup.run(olga, `refund O-${index} 5000`);
    const orders: string[] = [];
    for (let cursor = ""; ; ) {
      const path = `/v1/approvals?status=pending&limit=5${cursor === "" ? "" : `&cursor=${cursor}`}`;
      const page = (await (await setup.request(olga, "GET", path)).json()) as {
        readonly approvals: readonly { approvalId: string; argsHash: string; args: { order: string } }[];
        readonly nextCursor?: string;
      };
      orders.push(...page.approvals.map(({ args }) => args.order));
      if (page.nextCursor === undefined) break;
      cursor = page.nextCursor;
      const last = page.approvals.at(-1);
      const answer = { answer: "reject", argsHash: last?.argsHash };
      await setup.request(dana, "POST", `/v1/approvals/${last?.approvalId}:decide`, answer);
    }
    expect(orders).toEqual(Array.from({ length: 23 }, (_, index) => `O-${index}`));
  });

  it("shows a question whose arguments were edited in the store as not intact, and takes no answer to it", async () => {
    const store = createMemoryStore();
    const setup = await asked({ store });
    const { approval, approvals } = store;
    const edited = (row: ApprovalRow): ApprovalRow => ({ ...row, args: { order: "O-1", cents: 5 } });
    store.approval = async (...args) => {
      const row = await approval.apply(store, args);
      return row && edited(row);
    };
    store.approvals = async (query) => (await approvals.call(store, query)).map(edited);
    const listed = await setup.request(setup.dana, "GET", "/v1/approvals?status=pending");
    expect(await listed.json()).toMatchObject({ approvals: [{ isIntact: false }] });
    expect(await refusal(await setup.decide(setup.dana))).toBe("412 BELAY_APPROVAL_DIGEST");
    Object.assign(store, { approval, approvals });
    expect((await setup.decide(setup.dana)).status).toBe(200);
  });
});

describe("POST /v1/approvals/{id}:decide", () => {
  it("approves: the rules look again, and the money moves once", async () => {
    const setup = await asked();
    const response = await setup.decide(setup.dana, "approve", { reason: "receipt seen" });
    expect(response.status).toBe(200);
    expect(await response.json()).toMatchObject({
      status: "approved",
      isLookedAt: true,
      approval: { status: "approved", resolvedBy: { kind: "person", id: "dana" }, note: "receipt seen" },
    });
    const again = await problemOf(await setup.decide(setup.token("lee", ["approver"]), "reject"));
    expect(again).toMatchObject({ status: 409, code: "BELAY_APPROVAL_DECIDED", approval: { status: "approved" } });
    expect(setup.effects).toEqual(["O-1:5000"]);
  });

  it("rejects, and nothing runs", async () => {
    const setup = await asked();
    expect(await (await setup.decide(setup.dana, "reject")).json()).toMatchObject({ status: "rejected" });
    expect(await refusal(await setup.decide(setup.dana))).toBe("409 BELAY_APPROVAL_DECIDED");
    expect(setup.effects).toEqual([]);
  });

  it("appr-09: of a yes and a no in the same moment one is recorded, once, and the other learns it with 409", async () => {
    for (let round = 0; round < 10; round += 1) {
      const setup = await asked();
      const lee = setup.token("lee", ["approver"]);
      const both = await Promise.all([setup.decide(setup.dana, "approve"), setup.decide(lee, "reject")]);
      expect(both.map(({ status }) => status).sort()).toEqual([200, 409]);
      const loser = await problemOf(both.find(({ status }) => status === 409) ?? new Response());
      const stored = await setup.store.approval("default", setup.approvalId);
      expect(loser).toMatchObject({ approval: { status: stored?.status, resolvedBy: stored?.resolvedBy } });
      const size = await setup.store.audit.size();
      const records = (await setup.store.audit.entries(0, size)).map(
        ({ text }) => JSON.parse(text) as { type: string },
      );
      expect(records.filter(({ type }) => type === "approval.resolved")).toHaveLength(1);
      expect(setup.effects).toHaveLength(stored?.status === "approved" ? 1 : 0);
    }
  });

  it("is for people who may, never for the one who asked in whatever name, and never for a program", async () => {
    const setup = await asked();
    const bot = setup.token("bot", ["agent", "admin"]);
    const refused = ["403 BELAY_NOT_PERMITTED"];
    for (const token of [setup.token("vik", ["viewer"]), setup.token("otto", ["operator"]), setup.olga, bot]) {
      refused.push(await refusal(await setup.decide(token)));
      refused.push(await refusal(await setup.decide(token, "reject")));
    }
    expect(new Set(refused).size).toBe(1);
    expect(await refusal(await setup.request(undefined, "POST", `/v1/approvals/${setup.approvalId}:decide`, {}))).toBe(
      "401 BELAY_NOT_SIGNED_IN",
    );
    expect(await setup.store.approval("default", setup.approvalId)).toMatchObject({ status: "pending" });
    expect(setup.effects).toEqual([]);
  });

  it("is bound to the arguments that were shown", async () => {
    const setup = await asked();
    const problem = await problemOf(await setup.decide(setup.dana, "approve", { argsHash: "f".repeat(64) }));
    expect(problem).toMatchObject({
      status: 412,
      code: "BELAY_APPROVAL_DIGEST",
      approval: { argsHash: setup.argsHash },
    });
    const without = { answer: "approve" };
    const path = `/v1/approvals/${setup.approvalId}:decide`;
    expect(await refusal(await setup.request(setup.dana, "POST", path, without))).toBe("400 BELAY_REQUEST_INVALID");
    expect(setup.effects).toEqual([]);
  });

  it("comes too late for an expired question, without a look at the world", async () => {
    const setup = await asked();
    setup.clock.advance(100 * 3_600_000);
    const problem = await problemOf(await setup.decide(setup.token("lee", ["approver"])));
    expect(problem).toMatchObject({ status: 410, code: "BELAY_APPROVAL_EXPIRED", approval: { status: "expired" } });
    expect(await refusal(await setup.decide(setup.token("lee", ["approver"])))).toBe("410 BELAY_APPROVAL_EXPIRED");
    expect(setup.effects).toEqual([]);
  });

  it("says 412 with the rule's reason when the world has changed since", async () => {
    let isDelivered = true;
    const setup = await asked({
      agent: {
        rules: [
          ASK_ABOVE_1000,
          {
            id: "delivered",
            decide: () =>
              isDelivered ? undefined : { verdict: "deny", code: "ORDER_CANCELLED", reason: "the order is cancelled" },
          },
        ],
      },
    });
    isDelivered = false;
    const problem = await problemOf(await setup.decide(setup.dana));
    expect(problem).toMatchObject({ status: 412, code: "BELAY_WORLD_CHANGED", worldCode: "ORDER_CANCELLED" });
    expect(problem.detail).toContain("the order is cancelled");
    expect(setup.effects).toEqual([]);
  });

  it("does not wait for a worker for ever", async () => {
    const setup = await asked();
    const other = await serverWorld({ store: setup.store, database: setup.database, isWorking: false });
    await setup.live.close();
    const response = await other.request(
      other.token("dana"),
      "POST",
      `/v1/approvals/${setup.approvalId}:decide`,
      { answer: "approve", argsHash: setup.argsHash },
      { prefer: "wait=0" },
    );
    expect(await response.json()).toMatchObject({ status: "approved", isLookedAt: false });
  });
});

describe("who may decide", () => {
  it("is read from the first rule about a question; one that none is about is for nobody", async () => {
    const approvals: ServerChange["approvals"] = [
      { tools: ["other"], roles: ["approver"] },
      { codes: ["ABOVE_LIMIT"], amount: { argument: "cents", below: 6000 }, persons: ["lee"] },
      { codes: ["ABOVE_LIMIT"], amount: { argument: "cents", below: 8000 }, roles: ["admin"] },
    ];
    const small = await asked({ approvals });
    expect(await refusal(await small.decide(small.dana))).toBe("403 BELAY_NOT_PERMITTED");
    expect((await small.decide(small.token("lee", ["approver"]))).status).toBe(200);
    const middle = await asked({ approvals }, "refund O-1 7000");
    expect(await refusal(await middle.decide(middle.token("lee", ["approver"])))).toMatch(/^403/);
    expect((await middle.decide(middle.token("ada", ["admin"]))).status).toBe(200);
    const large = await asked({ approvals }, "refund O-1 9000");
    expect(await refusal(await large.decide(large.token("ada", ["admin"])))).toMatch(/^403/);
    expect(await refusal(await large.decide(large.token("ada", ["admin"]), "reject"))).toMatch(/^403/);
  });

  it("fails closed on an amount that cannot be read", async () => {
    const setup = await asked({ approvals: [{ amount: { argument: "euros", below: 1 } }, {}] });
    const problem = await problemOf(await setup.decide(setup.dana));
    expect([problem.status, problem.detail]).toEqual([403, expect.stringContaining("cannot be read")]);
  });

  it("holds in the engine too, whatever calls it", async () => {
    const setup = await asked({ approvals: [{ persons: ["lee"] }] });
    const outcome = await setup.harness.decide({
      approvalId: setup.approvalId,
      answer: "approved",
      by: { kind: "person", id: "dana" },
    });
    expect(outcome.status).toBe("not_permitted");
  });

  it("refuses rules that could not be followed", async () => {
    for (const rule of [
      { approvals: 0 },
      { approvals: 1.5 },
      { approvals: 2, persons: ["a"] },
      { amount: { argument: "a", from: Number.NaN } },
    ]) {
      await expect(serverWorld({ approvals: [rule] })).rejects.toMatchObject({ code: "BELAY_SERVER_SETTINGS" });
    }
  });
});

describe("four eyes", () => {
  it("needs two distinct people, and neither of them is the one who asked", async () => {
    const setup = await asked({ approvals: MANY }, "refund O-1 20000");
    const first = await setup.decide(setup.dana, "approve", { reason: "seen" });
    expect(first.status).toBe(202);
    expect(await first.json()).toMatchObject({ status: "collected", needed: 2, given: [{ personId: "dana" }] });
    expect((await setup.decide(setup.dana)).status).toBe(202);
    expect(await refusal(await setup.decide(setup.olga))).toBe("403 BELAY_NOT_PERMITTED");
    expect(setup.effects).toEqual([]);
    const second = await setup.decide(setup.token("lee", ["approver"]), "approve", { reason: "checked" });
    expect(second.status).toBe(200);
    const { approval } = (await second.json()) as { approval: { note: string; resolvedBy: unknown } };
    expect(approval.note).toBe("approved by 2: DANA (dana): seen; LEE (lee): checked");
    expect(approval.resolvedBy).toEqual({ kind: "person", id: "lee" });
    expect(setup.effects).toEqual(["O-1:20000"]);
  });

  it("asks one person below the amount, and a single no ends it above", async () => {
    const small = await asked({ approvals: MANY });
    expect((await small.decide(small.dana)).status).toBe(200);
    const large = await asked({ approvals: MANY }, "refund O-1 20000");
    expect((await large.decide(large.dana)).status).toBe(202);
    expect((await large.decide(large.token("lee", ["approver"]), "reject")).status).toBe(200);
    expect(await refusal(await large.decide(large.token("ann", ["approver"])))).toBe("409 BELAY_APPROVAL_DECIDED");
    expect(large.effects).toEqual([]);
  });

  it("lets two last voices in the same moment record one decision", async () => {
    const setup = await asked({ approvals: MANY }, "refund O-1 20000");
    const tokens = ["dana", "lee", "ann"].map((id) => setup.token(id, ["approver"]));
    const all = await Promise.all(tokens.map((token) => setup.decide(token)));
    expect(all.map(({ status }) => status).filter((status) => status === 200)).toHaveLength(1);
    expect(setup.effects).toEqual(["O-1:20000"]);
  });

  it("keeps no yes to a question that has expired", async () => {
    const setup = await asked({ approvals: MANY }, "refund O-1 20000");
    await setup.decide(setup.dana);
    setup.clock.advance(100 * 3_600_000);
    expect(await refusal(await setup.decide(setup.token("lee", ["approver"])))).toBe("410 BELAY_APPROVAL_EXPIRED");
    expect(setup.effects).toEqual([]);
  });

  it("does not count the yes of a person who was revoked since", async () => {
    const setup = await asked({ approvals: MANY }, "refund O-1 20000");
    await setup.decide(setup.dana);
    setup.people.revoke("default", "dana");
    expect((await setup.decide(setup.token("lee", ["approver"]))).status).toBe(202);
    expect(setup.effects).toEqual([]);
    expect((await setup.decide(setup.token("ann", ["approver"]))).status).toBe(200);
  });

  it("records after a restart the decision whose last yes was kept just before the end", async () => {
    const setup = await asked({ approvals: MANY }, "refund O-1 20000");
    const row = await setup.store.approval("default", setup.approvalId);
    if (row === undefined) throw new Error("no row");
    setup.token("lee", ["approver"]);
    const votes = createVotes(setup.database);
    const deps = {
      store: setup.store,
      clock: setup.clock,
      people: setup.people,
      database: setup.database,
      approvals: MANY,
      apps: new Map([["desk", { name: "desk", description: "", harness: setup.harness, labelOf: String }]]),
    };
    votes.add(row, { personId: "dana", name: "Dana", at: 1 });
    expect(await recoverVotes(deps)).toBe(0);
    votes.add(row, { personId: "lee", name: "Lee", at: 2 });
    expect(await recoverVotes(deps)).toBe(1);
    expect(await recoverVotes(deps)).toBe(0);
    expect(await setup.store.approval("default", setup.approvalId)).toMatchObject({ status: "approved" });
  });
});
