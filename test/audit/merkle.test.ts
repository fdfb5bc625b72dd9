import { createHash } from "node:crypto";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  appendLeaf,
  decodeFrontier,
  EMPTY_FRONTIER,
  encodeFrontier,
  type Frontier,
  leafHash,
  nodeHash,
  rootOf,
} from "../../src/audit/index.ts";
import { grow, leafHashes, ROOTS } from "./sample-tree.ts";

function sha256(...parts: Buffer[]): Buffer {
  return createHash("sha256").update(Buffer.concat(parts)).digest();
}

/** RFC 6962, section 2.1, word by word. */
function naiveRoot(records: readonly Uint8Array[]): Buffer {
  if (records.length === 0) {
    return sha256();
  }
  if (records.length === 1) {
    return sha256(Buffer.of(0), Buffer.from(records[0] ?? []));
  }
  let split = 1;
  while (split * 2 < records.length) {
    split *= 2;
  }
  return sha256(Buffer.of(1), naiveRoot(records.slice(0, split)), naiveRoot(records.slice(split)));
}

const records = fc.array(fc.uint8Array({ maxLength: 40 }), { maxLength: 40 });

describe("the tree", () => {
  it("has the published roots for 0 to 8 leaves", () => {
    expect(rootOf(EMPTY_FRONTIER)).toBe("e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
    for (let size = 1; size <= 8; size += 1) {
      expect(rootOf(grow(leafHashes.slice(0, size)))).toBe(ROOTS[size - 1]);
    }
  });

  it("hashes text as its UTF-8 bytes", () => {
    expect(leafHash("€\u0000")).toBe(leafHash(Buffer.from("€\u0000")));
  });

  it("agrees with the recursive definition for any records", () => {
    fc.assert(
      fc.property(records, (some) => {
        const frontier = grow(some.map(leafHash));
        expect(rootOf(frontier)).toBe(naiveRoot(some).toString("hex"));
        expect(frontier.size).toBe(some.length);
      }),
    );
  });

  it("leaves the frontier that it grows from as it was", () => {
    const before = grow(leafHashes.slice(0, 3));
    const copy = structuredClone(before);
    appendLeaf(before, leafHashes[3] ?? "");
    expect(before).toEqual(copy);
  });

  it.each(["", "00", "zz".repeat(32), ROOTS[0]?.toUpperCase(), `${ROOTS[0]}00`])("refuses %j as a hash", (bad) => {
    expect(() => appendLeaf(EMPTY_FRONTIER, bad ?? "")).toThrow(
      expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }),
    );
  });

  it("refuses to join what is not a hash, on either side, and still joins hashes after", () => {
    const good = leafHashes[0] ?? "";
    expect(() => nodeHash("zz".repeat(32), good)).toThrow(/64 lowercase/);
    expect(() => nodeHash(good, `${good.slice(2)}zz`)).toThrow(/64 lowercase/);
    expect(() => nodeHash(good.slice(2), good)).toThrow(/64 lowercase/);
    expect(nodeHash(good, leafHashes[1] ?? "")).toBe(ROOTS[1]);
  });
});

describe("the stored frontier", () => {
  it("is read back as it was, and goes on from there", () => {
    fc.assert(
      fc.property(records, (some) => {
        const frontier = grow(some.map(leafHash));
        expect(decodeFrontier(encodeFrontier(frontier))).toEqual(frontier);
      }),
    );
  });

  it("goes on beyond 32 bits", () => {
    const full: Frontier = { size: 2 ** 33 - 1, roots: Array.from({ length: 33 }, () => leafHashes[0] ?? "") };
    const next = appendLeaf(decodeFrontier(encodeFrontier(full)), leafHashes[1] ?? "");
    expect(next).toMatchObject({ size: 2 ** 33, roots: [expect.any(String)] });
  });

  const good = encodeFrontier(grow(leafHashes.slice(0, 3)));
  it.each([
    ["nothing", ""],
    ["a size alone", good.slice(0, 16)],
    ["a missing digit", good.slice(0, -1)],
    ["a missing root", good.slice(0, -64)],
    ["a further root", good + ROOTS[0]],
    ["another size", `0000000000000004${good.slice(16)}`],
    ["a size beyond safe integers", `ffffffffffffffff${good.slice(16)}`],
    ["capital letters", good.toUpperCase()],
    ["a newline", `${good}\n`],
  ])("is refused with %s", (_name, encoded) => {
    expect(() => decodeFrontier(encoded)).toThrow(expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }));
  });
});
