import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { CHAIN_GENESIS, chainLines, verifyChain } from "../../src/audit/index.ts";

const records = [
  { run: "r1", step: 1, tool: "refund", args: { amount: 500 }, decision: "allow" },
  { run: "r1", step: 2, tool: "cancel", decision: "deny", reason: "déjà vu €" },
  { run: "r2", step: 1, tool: "refund", args: { amount: 700 }, decision: "ask" },
];

function fileOf(lines: readonly string[]): string {
  return lines.map((line) => `${line}\n`).join("");
}

function hashOf(line: string | undefined): string {
  return JSON.parse(line ?? "").hash;
}

const lines = [...chainLines(records)];
const anchor = hashOf(lines.at(-1));

describe("the format", () => {
  it("is one line of sorted keys whose hash covers prev and the canonical record", () => {
    const text = '{"decision":"deny","reason":"déjà vu €","run":"r1","step":2,"tool":"cancel"}';
    const prev = hashOf(lines[0]);
    const hash = createHash("sha256")
      .update(prev + text)
      .digest("hex");
    expect(lines[1]).toBe(`{"hash":"${hash}","prev":"${prev}","record":${text}}`);
  });

  it("starts from 64 zeros and can go on from a stored hash", () => {
    expect(JSON.parse(lines[0] ?? "").prev).toBe("0".repeat(64));
    expect([...chainLines(records.slice(1), hashOf(lines[0]))]).toEqual(lines.slice(1));
  });

  it("refuses a record that JSON cannot hold", () => {
    expect(() => [...chainLines([{ a: undefined }])]).toThrow(
      expect.objectContaining({ code: "BELAY_CANONICAL_JSON" }),
    );
  });
});

describe("an intact chain", () => {
  it("verifies as a file or as lines, with or without the last newline", () => {
    expect(verifyChain(fileOf(lines))).toEqual({ ok: true, size: 3 });
    expect(verifyChain(lines)).toEqual({ ok: true, size: 3 });
    expect(verifyChain(lines.join("\n"))).toEqual({ ok: true, size: 3 });
  });

  it("may be empty or missing, unless something was anchored", () => {
    for (const nothing of ["", [], undefined]) {
      expect(verifyChain(nothing)).toEqual({ ok: true, size: 0 });
      expect(verifyChain(nothing, { anchor: CHAIN_GENESIS })).toEqual({ ok: true, size: 0 });
      expect(verifyChain(nothing, { anchor })).toEqual({ ok: false, line: 0, problem: "anchor_missing" });
    }
  });

  it("may have grown since it was anchored", () => {
    expect(verifyChain(lines, { anchor: hashOf(lines[1]) })).toEqual({ ok: true, size: 3 });
  });
});

describe("a bad chain", () => {
  const bad = (line: number) => ({ ok: false, line, problem: "bad_line" });

  it("names an edited record", () => {
    expect(verifyChain(fileOf(lines).replace("700", "7000"))).toEqual(bad(2));
  });

  it("names the line after a deleted one", () => {
    expect(verifyChain(fileOf(lines.toSpliced(1, 1)))).toEqual(bad(1));
  });

  it("names a last line that was cut", () => {
    for (let cut = 1; cut < (lines[2]?.length ?? 0); cut += 1) {
      expect(verifyChain(lines.join("\n").slice(0, -cut))).toEqual(bad(2));
    }
  });

  it("names the place of any changed letter", () => {
    const file = fileOf(lines);
    fc.assert(
      fc.property(fc.nat({ max: file.length - 2 }), fc.integer({ min: 1, max: 31 }), (at, change) => {
        const altered = file.slice(0, at) + String.fromCharCode(file.charCodeAt(at) ^ change) + file.slice(at + 1);
        const line = file.slice(0, at).split("\n").length - 1;
        expect(verifyChain(altered)).toEqual(bad(line));
      }),
      { numRuns: 500 },
    );
  });

  it.each([
    ["an empty line", ["", ...lines], 0],
    ["swapped lines", [lines[1], lines[0], lines[2]], 0],
    ["a repeated line", [lines[0], lines[0]], 1],
    ["a space", [lines[0]?.replace(":", ": ")], 0],
    ["a further key", [lines[0]?.replace("{", '{"a":1,')], 0],
    ["a repeated key", [lines[0]?.replace("{", '{"record":{},')], 0],
    ["no record", ['{"hash":"","prev":""}'], 0],
    ["a list", ["[]"], 0],
    ["null", ["null"], 0],
    ["what is not text", [7, undefined], 0],
    ["a lone surrogate", ['{"hash":"","prev":"","record":"\\ud800"}'], 0],
  ])("names the line with %s", (_name, altered, line) => {
    expect(verifyChain(altered as string[])).toEqual(bad(line));
  });
});

describe("what only an anchor shows", () => {
  it("lines removed from the end", () => {
    const shortened = fileOf(lines.slice(0, 2));
    expect(verifyChain(shortened)).toEqual({ ok: true, size: 2 });
    expect(verifyChain(shortened, { anchor })).toEqual({ ok: false, line: 2, problem: "anchor_missing" });
  });

  it("a file rewritten as a whole", () => {
    const rewritten = [...chainLines([{ ...records[0], tool: "nothing" }, ...records.slice(1)])];
    expect(verifyChain(rewritten)).toEqual({ ok: true, size: 3 });
    expect(verifyChain(rewritten, { anchor })).toEqual({ ok: false, line: 3, problem: "anchor_missing" });
  });
});
