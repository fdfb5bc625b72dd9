import { describe, expect, it } from "vitest";
import { answerOf, OPENAI_CHAT, startWireServer, type WireReply } from "../adapters/ai-sdk/wire/index.ts";
import { BANK_CONFIG, belay, jsonOf, makeFolder } from "./belay.ts";
import { start } from "./courier.ts";

const TIMEOUT_MS = 60_000;
const FREE = ["--price-input", "0", "--price-output", "0"];
const answer = (reply: WireReply) => answerOf(OPENAI_CHAT, reply, false);
const PAYS = answer({ calls: [{ id: "b", name: "pay", args: '{"account":"alice","amount":500}' }] });

interface Waiting {
  readonly runId: string;
  readonly approvals: readonly { readonly approvalId: string }[];
}

async function waitingRun(folder: string, model: readonly string[]): Promise<{ runId: string; approvalId: string }> {
  const ran = await belay(folder, ["run", "bank", "pay 500 to alice", "--json", ...model]);
  const { runId, approvals } = jsonOf<Waiting>(ran);
  return { runId, approvalId: approvals[0]?.approvalId ?? "none" };
}

describe("a run of a real model", () => {
  it(
    "is approved, and goes on, only with the model that it has asked, or with another one that is named",
    async () => {
      const folder = makeFolder();
      await using server = await startWireServer([PAYS, answer({ text: "Paid by the real one." })]);
      const spec = `${server.url}/v1#m`;
      const { approvalId } = await waitingRun(folder, ["--model", spec, ...FREE]);
      const silently = await belay(folder, ["approve", approvalId, "--by", "dana"]);
      expect(silently.code).toBe(2);
      expect(silently.stderr).toContain("BELAY_RUN_OTHER_MODEL");
      expect(silently.stderr).toContain(`--model ${spec}`);
      // Nothing was decided, so the same yes can be given properly.
      const waiting = await belay(folder, ["approvals", "--json"]);
      expect(jsonOf<readonly object[]>(waiting)).toEqual([expect.objectContaining({ approvalId, status: "pending" })]);
      expect((await belay(folder, ["recover"])).code).toBe(0);
      const approved = await belay(folder, ["approve", approvalId, "--by", "dana", "--model", spec, ...FREE]);
      expect(approved.stdout).toContain("Paid by the real one.");
      expect(server.requests.length).toBe(2);
    },
    TIMEOUT_MS,
  );

  it(
    "is recovered only with its own model, or with the app's own when that is said",
    async () => {
      const folder = makeFolder();
      await using server = await startWireServer([PAYS]);
      const { runId, approvalId } = await waitingRun(folder, ["--model", `${server.url}/v1#m`, ...FREE]);
      const decided = await belay(folder, ["approve", approvalId, "--by", "dana", "--no-run"]);
      expect(decided.code).toBe(0);
      const silently = await belay(folder, ["recover"]);
      expect(silently.code).toBe(2);
      expect(silently.stderr).toContain("BELAY_RUN_OTHER_MODEL");
      expect(server.requests.length).toBe(1);
      const onPurpose = await belay(folder, ["recover", "--model", "offline", "--json"]);
      expect(jsonOf(onPurpose)).toEqual([expect.objectContaining({ runId, status: "done" })]);
      expect(server.requests.length).toBe(1);
    },
    TIMEOUT_MS,
  );
});

it(
  "is left alone by a worker, which says so, and goes on where another model is allowed",
  async () => {
    const folder = makeFolder();
    await using server = await startWireServer([PAYS]);
    const { runId, approvalId } = await waitingRun(folder, ["--model", `${server.url}/v1#m`, ...FREE]);
    await belay(folder, ["approve", approvalId, "--by", "dana", "--no-run"]);
    const statusOf = async (): Promise<string | undefined> =>
      jsonOf<readonly { runId: string; status: string }[]>(await belay(folder, ["runs", "--json"])).find(
        (row) => row.runId === runId,
      )?.status;
    const silently = start(folder, ["work"]);
    await expect.poll(silently.text, { timeout: 20_000 }).toContain("RUN_OTHER_MODEL");
    expect(await statusOf()).not.toBe("done");
    silently.child.kill("SIGTERM");
    expect(await silently.ended).toBe(0);
    const onPurpose = start(folder, ["work", "--allow-other-model"]);
    await expect.poll(statusOf, { timeout: 20_000 }).toBe("done");
    onPurpose.child.kill("SIGTERM");
    expect(await onPurpose.ended).toBe(0);
    expect(server.requests.length).toBe(1);
  },
  TIMEOUT_MS,
);

it(
  "sends a question for several people to the console, and takes one no",
  async () => {
    const config = BANK_CONFIG.replace(
      "people: [",
      'approvals: [{ approvals: 2, roles: ["approver"] }],\n  people: [{ id: "erin", name: "Erin", roles: ["approver"] },',
    );
    const folder = makeFolder({ "belay.config.mjs": config });
    const { approvalId } = await waitingRun(folder, []);
    const alone = await belay(folder, ["approve", approvalId, "--by", "dana"]);
    expect(alone.code).toBe(2);
    expect(alone.stderr).toContain("BELAY_APPROVAL_QUORUM");
    expect(alone.stderr).toContain("belay serve");
    const no = await belay(folder, ["reject", approvalId, "--by", "dana", "--json"]);
    expect(no.stderr).toBe("");
    expect(no.code).toBe(0);
  },
  TIMEOUT_MS,
);

it(
  "counts what the cache had at the prices that are given",
  async () => {
    const folder = makeFolder();
    const usage = { input: 1000, cached: 400, output: 10 };
    await using server = await startWireServer([answer({ text: "Hello", usage })]);
    const costOf = async (prices: readonly string[]) => {
      const args = [
        "run",
        "bank",
        "hi",
        "--json",
        "--model",
        `${server.url}/v1#m`,
        "--price-input",
        "3",
        "--price-output",
        "15",
      ];
      const ran = await belay(folder, [...args, ...prices]);
      return JSON.stringify(jsonOf<object>(ran)).match(/"cost(?:Usd|NanoUsd)":([0-9.]+)/)?.[1];
    };
    const [full, cached] = [await costOf([]), await costOf(["--price-cache-read", "0.3"])];
    expect(Number(full) / Number(cached)).toBeCloseTo((1000 * 3 + 10 * 15) / (600 * 3 + 400 * 0.3 + 10 * 15), 6);
    const alone = await belay(folder, [
      "run",
      "bank",
      "hi",
      "--model",
      `${server.url}/v1#m`,
      "--price-cache-read",
      "1",
    ]);
    expect(alone.stderr).toContain("--price-input is missing");
    expect((await belay(folder, ["run", "bank", "hi", "--model", "offline", "--price-input", "1"])).code).toBe(2);
  },
  TIMEOUT_MS,
);
