import { describe, expect, it } from "vitest";
import { createPages } from "../../src/server/pages/index.ts";
import { refundTool } from "../engine/support.ts";
import { problemOf, refusal, type ServerWorld, serverWorld } from "./support.ts";

interface InDoubt extends ServerWorld {
  readonly olga: string;
  readonly dana: string;
  readonly runId: string;
  reconcile(token: string | undefined, change?: object): Promise<Response>;
}

/** A server with one run that ended because nobody knows whether its refund happened; olga asked for it. */
async function inDoubt(): Promise<InDoubt> {
  const lost = refundTool(
    { effects: [], keys: [] },
    {
      recovery: "opaque",
      level: "write",
      execute: () => {
        throw new Error("connection lost");
      },
    },
  );
  const setup = await serverWorld({ agent: { tools: [lost] }, options: { pages: createPages } });
  const olga = setup.token("olga", ["operator", "approver"]);
  const dana = setup.token("dana", ["approver"]);
  const runId = await setup.run(olga, "refund O-1 500", { customer: "C-1" });
  return {
    ...setup,
    ...{ olga, dana, runId },
    reconcile: (token, change = {}) =>
      setup.request(token, "POST", "/v1/calls/c1.1:reconcile", {
        ...{ runId, outcome: "happened", note: "statement of today" },
        ...change,
      }),
  };
}

describe("POST /v1/calls/{id}:reconcile", () => {
  it("records what a person found out, once; the run is no longer listed as in doubt", async () => {
    const setup = await inDoubt();
    const doubtful = async () =>
      (await (await setup.request(setup.dana, "GET", "/v1/runs?inDoubt=true")).json()) as {
        runs: { inDoubt: string[] }[];
      };
    expect((await doubtful()).runs.map(({ inDoubt: calls }) => calls)).toEqual([["c1.1"]]);
    const response = await setup.reconcile(setup.dana, { value: { receipt: "R-7" } });
    expect([response.status, await response.json()]).toEqual([
      200,
      { runId: setup.runId, callId: "c1.1", outcome: "happened", status: "recorded" },
    ]);
    expect((await doubtful()).runs).toEqual([]);
    const lee = setup.token("lee", ["approver"]);
    expect(await problemOf(await setup.reconcile(lee, { outcome: "did_not_happen" }))).toMatchObject({
      status: 409,
      code: "BELAY_CALL_NOT_IN_DOUBT",
      reconciled: { outcome: "happened", by: { kind: "person", id: "dana" }, note: "statement of today" },
    });
    const run = await (await setup.request(setup.dana, "GET", `/v1/runs/${setup.runId}`)).json();
    expect(run).toMatchObject({ calls: [{ reconciled: { outcome: "happened", by: { id: "dana" } } }] });
    const records = (await setup.store.audit.entries(0, await setup.store.audit.size())).map(({ text }) => text);
    expect(records.filter((text) => text.includes('"call.reconciled"'))).toHaveLength(1);
  });

  it("is for approvers alone, never for who asked in whatever name, and never for a program", async () => {
    const setup = await inDoubt();
    for (const token of [
      setup.olga,
      setup.token("otto", ["operator"]),
      setup.token("vik", ["viewer"]),
      setup.token("bot", ["agent", "admin"]),
    ]) {
      expect(await refusal(await setup.reconcile(token))).toBe("403 BELAY_NOT_PERMITTED");
    }
    expect(await refusal(await setup.reconcile(undefined))).toBe("401 BELAY_NOT_SIGNED_IN");
    const stranger = setup.token("mia", ["approver"], "other");
    expect(await refusal(await setup.reconcile(stranger))).toBe("404 BELAY_RUN_UNKNOWN");
    expect((await setup.store.run({ tenant: "default", runId: setup.runId }))?.inDoubt).toEqual(["c1.1"]);
  });

  it("refuses a request that says nothing, or speaks of what is not there", async () => {
    const setup = await inDoubt();
    const invalid = "400 BELAY_REQUEST_INVALID";
    expect(await refusal(await setup.reconcile(setup.dana, { note: "  " }))).toBe(invalid);
    expect(await refusal(await setup.reconcile(setup.dana, { outcome: "perhaps" }))).toBe(invalid);
    expect(await refusal(await setup.reconcile(setup.dana, { outcome: "did_not_happen", value: 1 }))).toBe(
      "400 BELAY_DECISION_INVALID",
    );
    expect(await refusal(await setup.reconcile(setup.dana, { runId: "run_none" }))).toBe("404 BELAY_RUN_UNKNOWN");
    const path = "/v1/calls/c9.9:reconcile";
    const body = { runId: setup.runId, outcome: "happened", note: "x" };
    expect(await refusal(await setup.request(setup.dana, "POST", path, body))).toBe("404 BELAY_CALL_UNKNOWN");
  });
});

describe("the pages", () => {
  async function signedIn(setup: InDoubt, id: string) {
    const redeemed = setup.people.redeem(setup.people.issue("link", "default", id));
    const headers = { cookie: `belay_session=${redeemed?.session}`, "sec-fetch-site": "same-origin" };
    const get = async (path: string) => (await setup.app.request(path, { headers })).text();
    const post = async (path: string, fields: Record<string, string>) => {
      const csrf = /name="csrf" value="([^"]+)"/.exec(await get("/"))?.[1] ?? "";
      return setup.app.request(path, { method: "POST", headers, body: new URLSearchParams({ csrf, ...fields }) });
    };
    return { get, post };
  }

  it("show what is in doubt to everybody, and let one who may say what became of it", async () => {
    const setup = await inDoubt();
    const [dana, olga] = [await signedIn(setup, "dana"), await signedIn(setup, "olga")];
    const path = `/runs/${setup.runId}`;
    for (const place of ["/", "/runs?inDoubt=true"]) expect(await dana.get(place)).toContain(`href="${path}"`);
    expect(await olga.get(path)).toContain("You cannot say it: olga asked for this run");
    expect(await olga.get(path)).not.toContain("It did not happen");
    const form = { call: "c1.1", outcome: "happened", note: "statement <b>of today</b>" };
    expect((await olga.post(`${path}/reconcile`, form)).status).toBe(403);
    expect((await dana.post(`${path}/reconcile`, { ...form, note: " " })).status).toBe(422);
    const bad = await dana.post(`${path}/reconcile`, { ...form, value: "{receipt: 7}" });
    expect([bad.status, (await bad.text()).includes("is no JSON")]).toEqual([400, true]);
    expect(await dana.get(path)).toContain("It did not happen");
    expect((await dana.post(`${path}/reconcile`, { ...form, value: '{"receipt": "R-7"}' })).status).toBe(303);
    const text = await dana.get(path);
    expect(text).toContain("Found to have happened");
    expect(text).toContain("statement &lt;b&gt;of today&lt;/b&gt;");
    expect(text).toContain("R-7");
    expect(text).not.toContain("It did not happen");
    expect(await dana.get("/")).not.toContain("Nobody knows whether these calls happened");
    expect((await dana.post(`${path}/reconcile`, form)).status).toBe(409);
  });
});
