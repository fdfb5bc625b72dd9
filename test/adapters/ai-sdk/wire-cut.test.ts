import { describe, expect, it, vi } from "vitest";
import { aiSdkModel } from "../../../src/adapters/ai-sdk/index.ts";
import { asking, CALLS, once, REQUEST, startWireServer, TEXT, WIRE_FORMATS, type WireReply } from "./wire/index.ts";

describe.each(WIRE_FORMATS)("$name", (format) => {
  it("never gives a reply of a stream that was cut, wherever it was", async () => {
    const reply: WireReply = { text: TEXT, calls: CALLS };
    const events = format.events(reply);
    const whole = await asking(format, [{ kind: "events", events }], { isStreaming: true });
    const outcomes: string[] = [];
    for (let kept = 0; kept < events.length; kept += 1) {
      for (const end of ["close", "destroy"] as const) {
        const cut = await asking(format, [{ kind: "events", events: events.slice(0, kept), end }], {
          isStreaming: true,
          retry: once,
        });
        if (cut.reply === undefined) {
          expect(cut.error).toMatchObject({ code: expect.stringMatching(/^BELAY_MODEL_(UNAVAILABLE|BAD_REPLY)$/) });
          outcomes.push(`${end}: failed`);
        } else {
          // The provider had said that it is complete; only counts may be missing.
          expect({ ...cut.reply, usage: undefined }).toEqual({ ...whole.reply, usage: undefined });
          outcomes.push(`${end}: whole`);
        }
      }
    }
    const closed = outcomes.filter((outcome) => outcome.startsWith("close"));
    const failed = closed.filter((outcome) => outcome === "close: failed").length;
    expect(failed).toBeGreaterThan(closed.length / 2);
    // Once the provider has said that it is complete it stays so.
    expect(closed.slice(0, failed)).toEqual(closed.filter((outcome) => outcome === "close: failed"));
  });

  it("does not repeat a question of whose answer a part has arrived", async () => {
    const events = format.events({ text: TEXT }).slice(0, -1);
    const cutEarly = events.slice(0, Math.max(1, events.findIndex((text) => text.includes("Good")) + 1));
    const { error, deltas, requests } = await asking(
      format,
      [
        { kind: "events", events: cutEarly, end: "destroy" },
        { kind: "events", events: format.events({ text: TEXT }) },
      ],
      { isStreaming: true },
    );
    expect(error).toMatchObject({ code: "BELAY_MODEL_UNAVAILABLE" });
    expect(deltas).toEqual([TEXT.slice(0, 14)]);
    expect(requests.length).toBe(1);
  });

  it("lets go of a stream that hangs in the middle, and passes nothing on after that", async () => {
    const events = format.events({ text: TEXT, calls: CALLS });
    await using server = await startWireServer([{ kind: "events", events: events.slice(0, -3), end: "hang" }]);
    const stop = new AbortController();
    const deltas: string[] = [];
    const asked = aiSdkModel(format.model(server.url)).generate(REQUEST, {
      signal: stop.signal,
      onDelta: (text) => {
        deltas.push(text);
        setTimeout(() => stop.abort(new Error("enough")), 10);
      },
    });
    await expect(asked).rejects.toThrow("enough");
    await server.hungUp(1);
    expect(deltas.join("").length).toBeGreaterThan(0);
  });

  describe.each([false, true])("streaming: %s", (isStreaming) => {
    it("lets go of a server that hangs", async () => {
      await using server = await startWireServer([{ kind: "hang" }]);
      const stop = new AbortController();
      const asked = aiSdkModel(format.model(server.url)).generate(REQUEST, {
        signal: stop.signal,
        ...(isStreaming && { onDelta: () => undefined }),
      });
      const refused = expect(asked).rejects.toThrow("enough");
      await vi.waitFor(() => expect(server.requests.length).toBe(1), { timeout: 30_000 });
      stop.abort(new Error("enough"));
      await refused;
      await server.hungUp(1);
      expect(server.requests.length).toBe(1);
    });
  });
});
