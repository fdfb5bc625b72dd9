import { Writable } from "node:stream";
import { describe, expect, it } from "vitest";
import { bar } from "../../src/cli/eval-suites.ts";
import { createOutput } from "../../src/cli/output.ts";

function stream(isTTY: boolean): { readonly stream: NodeJS.WriteStream; readonly text: () => string } {
  let written = "";
  const sink = new Writable({
    write: (chunk, _encoding, done) => {
      written += String(chunk);
      done();
    },
  });
  return { stream: Object.assign(sink, { isTTY }) as unknown as NodeJS.WriteStream, text: () => written };
}

describe("the progress bar", () => {
  it.each([
    [0, 40, "[--------------------]"],
    [1, 40, "[#-------------------]"],
    [20, 40, "[##########----------]"],
    [40, 40, "[####################]"],
    [0, 0, "[--------------------]"],
  ])("of %d of %d is %s", (done, total, expected) => {
    expect(bar(done, total)).toBe(expected);
  });

  it("is drawn over itself on a terminal's stderr, and taken away at the end", () => {
    const [stdout, stderr] = [stream(true), stream(true)];
    const output = createOutput(stdout.stream, stderr.stream);
    output.transient("reference: 1 of 2");
    output.transient("");
    expect(stderr.text()).toBe("\r\u001b[2Kreference: 1 of 2\r\u001b[2K");
    expect(stdout.text()).toBe("");
  });

  it("is nowhere else: not in a file, nor in a pipe", () => {
    const [stdout, stderr] = [stream(true), stream(false)];
    createOutput(stdout.stream, stderr.stream).transient("reference: 1 of 2");
    expect([stdout.text(), stderr.text()]).toEqual(["", ""]);
  });
});
