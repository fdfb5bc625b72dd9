import { describe, expect, it } from "vitest";
import { boundedFetch } from "../../../src/adapters/mcp/client/bounded-fetch.ts";

/** A server that answers with these chunks. */
function answering(contentType: string, chunks: readonly string[]) {
  const encoder = new TextEncoder();
  return async (): Promise<Response> => {
    const body = new ReadableStream<Uint8Array>({
      start(controller) {
        for (const chunk of chunks) controller.enqueue(encoder.encode(chunk));
        controller.close();
      },
    });
    return new Response(body, { headers: { "content-type": contentType } });
  };
}

const read = async (contentType: string, chunks: readonly string[]): Promise<string> =>
  (await boundedFetch(answering(contentType, chunks), 100)("http://localhost/")).text();

describe("a bounded fetch", () => {
  it("lets a reply through as it is, and ends one that is too large", async () => {
    expect(await read("application/json", ["a".repeat(60), "b".repeat(40)])).toHaveLength(100);
    await expect(read("application/json", ["a".repeat(60), "b".repeat(41)])).rejects.toThrow("larger than 100 bytes");
  });

  it("measures each event of a stream, however long the stream is", async () => {
    const event = `data: ${"x".repeat(80)}\n\n`;
    expect(await read("text/event-stream", Array(50).fill(event))).toHaveLength(50 * event.length);
    await expect(read("text/event-stream", ["data: ", "x".repeat(80), "x".repeat(20)])).rejects.toThrow("larger");
    const windows = event.replaceAll("\n", "\r\n");
    expect(await read("text/event-stream", Array(50).fill(windows))).toHaveLength(50 * windows.length);
  });
});
