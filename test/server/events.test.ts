import { describe, expect, it } from "vitest";
import type { RunEvent } from "../../src/index.ts";
import { calls, final } from "../engine/support.ts";
import { slowModel } from "./pages/slow-model.ts";
import { refusal, serverWorld } from "./support.ts";

/** A busy machine may take its time. */
const WITHIN = { timeout: 10_000 };

interface Sent {
  readonly id: number;
  readonly event: string;
  readonly data: { readonly seq: number; readonly event: RunEvent };
}

interface Delta {
  readonly at: number;
  readonly text: string;
}

/** Reads a stream to its end, or until `isEnough`. */
async function eventsOf(
  response: Response,
  isEnough: (sent: readonly Sent[]) => boolean = () => false,
  onDelta: (delta: Delta) => void = () => undefined,
) {
  const sent: Sent[] = [];
  let text = "";
  const decoder = new TextDecoder();
  const reader = response.body?.getReader();
  for (;;) {
    const { value, done } = (await reader?.read()) ?? { done: true, value: undefined };
    if (done) break;
    text += decoder.decode(value, { stream: true });
    for (let end = text.indexOf("\n\n"); end !== -1; end = text.indexOf("\n\n")) {
      const fields = Object.fromEntries(
        text
          .slice(0, end)
          .split("\n")
          .map((line) => [line.slice(0, line.indexOf(":")), line.slice(line.indexOf(":") + 1).trim()]),
      );
      text = text.slice(end + 2);
      if (fields["event"] === "delta") {
        expect(fields["id"]).toBeUndefined();
        onDelta(JSON.parse(fields["data"] ?? "null"));
      }
      if (fields["id"] !== undefined) {
        sent.push({
          id: Number(fields["id"]),
          event: fields["event"] ?? "",
          data: JSON.parse(fields["data"] ?? "null"),
        });
      }
    }
    if (isEnough(sent)) {
      await reader?.cancel();
      break;
    }
  }
  return sent;
}

describe("GET /v1/runs/{id}/events", () => {
  it("tells a finished run from its first to its last event, and ends", async () => {
    const setup = await serverWorld();
    const olga = setup.token("olga");
    const runId = await setup.run(olga, "search x");
    const response = await setup.request(olga, "GET", `/v1/runs/${runId}/events`);
    expect(response.headers.get("content-type")).toMatch(/^text\/event-stream/);
    const sent = await eventsOf(response);
    const entries = await setup.store.read({ tenant: "default", runId });
    expect(sent.map(({ id }) => id)).toEqual(entries.map(({ seq }) => seq));
    expect(sent.map(({ data }) => data.event)).toEqual(entries.map(({ event }) => event));
    expect(sent.at(-1)?.event).toBe("run.ended");
    expect(setup.live.watchers).toBe(0);
  });

  it("goes on after the last event that the reader saw, told by header or address", async () => {
    const setup = await serverWorld();
    const olga = setup.token("olga");
    const runId = await setup.run(olga, "search x");
    const read = async (query: string, headers = {}) =>
      (await eventsOf(await setup.request(olga, "GET", `/v1/runs/${runId}/events${query}`, undefined, headers))).map(
        ({ id }) => id,
      );
    const all = await read("");
    expect(await read("?after=2")).toEqual(all.slice(2));
    expect(await read("", { "last-event-id": "3" })).toEqual(all.slice(3));
    expect(await read("?after=1", { "last-event-id": "3" })).toEqual(all.slice(3));
    expect(await read("?after=999999")).toEqual([]);
    expect(await refusal(await setup.request(olga, "GET", `/v1/runs/${runId}/events?after=-1`))).toMatch(/^400/);
  });

  it("follows a run live, through a pause, to its end", async () => {
    const setup = await serverWorld();
    const olga = setup.token("olga");
    const runId = await setup.run(olga, "refund O-1 5000");
    const following = eventsOf(await setup.request(olga, "GET", `/v1/runs/${runId}/events`));
    const { approvalId, argsHash } = await setup.question();
    const dana = setup.token("dana", ["approver"]);
    await setup.request(dana, "POST", `/v1/approvals/${approvalId}:decide`, { answer: "approve", argsHash });
    const sent = await following;
    expect(sent.map(({ event }) => event)).toEqual(
      (await setup.store.read({ tenant: "default", runId })).map(({ event }) => event.type),
    );
    expect(sent.map(({ event }) => event)).toContain("approval.resolved");
  });

  it("ends when the server stops, when the reader goes, and when the reader loses access", async () => {
    const setup = await serverWorld({ options: { limits: { heartbeatMs: 20 } } });
    const olga = setup.token("olga");
    const runId = await setup.run(olga, "refund O-1 5000");
    const open = () => setup.request(olga, "GET", `/v1/runs/${runId}/events`);
    const gone = await eventsOf(await open(), (sent) => sent.length > 0);
    expect(gone.length).toBeGreaterThan(0);
    await expect.poll(() => setup.live.watchers).toBe(0);
    const revoked = eventsOf(await open());
    setup.people.revoke("default", "olga");
    expect((await revoked).at(-1)?.event).toBe("approval.requested");
    const paul = setup.token("paul");
    const stopped = eventsOf(await setup.request(paul, "GET", `/v1/runs/${runId}/events`));
    await setup.live.close();
    expect((await stopped).at(-1)?.event).toBe("approval.requested");
  });

  it("passes hostile text on as data that cannot break out of its line", async () => {
    const setup = await serverWorld();
    const olga = setup.token("olga");
    const input = "x\n\nid: 99\nevent: forged\r\ndata: {}\u2028\u2029</script>";
    const runId = await setup.run(olga, input);
    const sent = await eventsOf(await setup.request(olga, "GET", `/v1/runs/${runId}/events`));
    expect(sent.map(({ event }) => event)).not.toContain("forged");
    expect(sent[0]?.data.event).toMatchObject({ input });
  });

  it("passes on what a model writes, all of it to whoever comes later, and none of it once it is recorded", async () => {
    const model = slowModel([calls(["search", { q: "x" }]), final("It is on its way.")]);
    const setup = await serverWorld({ model });
    const olga = setup.token("olga");
    const started = await setup.request(olga, "POST", "/v1/runs", { app: "desk", input: "search x" });
    const { runId } = (await started.json()) as { readonly runId: string };
    const path = `/v1/runs/${runId}/events`;
    const first: Delta[] = [];
    const following = eventsOf(await setup.request(olga, "GET", path), undefined, (delta) => first.push(delta));
    await model.say("Let me look. ");
    await expect.poll(() => first, WITHIN).toEqual([{ at: 0, text: "Let me look. " }]);
    await model.proceed();
    await model.say("It is ");
    await expect.poll(() => first.slice(1), WITHIN).toEqual([{ at: 0, text: "It is " }]);
    const late: Delta[] = [];
    const joined = eventsOf(await setup.request(olga, "GET", `${path}?after=3`), undefined, (delta) =>
      late.push(delta),
    );
    await expect.poll(() => late, WITHIN).toEqual([{ at: 0, text: "It is " }]);
    await model.say("on its way.");
    await expect.poll(() => [first.at(-1), late.at(-1)], WITHIN).toEqual(Array(2).fill({ at: 6, text: "on its way." }));
    await model.proceed();
    expect((await following).at(-1)?.event).toBe("run.ended");
    await joined;
    const after: Delta[] = [];
    const sent = await eventsOf(await setup.request(olga, "GET", path), undefined, (delta) => after.push(delta));
    expect(after).toEqual([]);
    expect(setup.live.draft({ tenant: "default", runId })).toBeUndefined();
    expect(JSON.stringify(sent)).not.toContain("Let me look");
  });
});
