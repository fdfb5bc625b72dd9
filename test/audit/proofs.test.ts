import fc from "fast-check";
import { describe, expect, it } from "vitest";
import {
  consistencyProof,
  inclusionProof,
  leafHash,
  rootOf,
  verifyConsistency,
  verifyInclusion,
} from "../../src/audit/index.ts";
import { grow, leafHashes, rootAt } from "./sample-tree.ts";

/** Another hash, as an attacker or a broken disk would leave it. */
function flip(hash: string, bit: number): string {
  const bytes = Buffer.from(hash, "hex");
  const at = (bit >> 3) % 32;
  bytes[at] = (bytes[at] ?? 0) ^ (1 << (bit & 7));
  return bytes.toString("hex");
}

const bit = fc.nat({ max: 255 });

describe("inclusion proofs", () => {
  it.each<[number, number, string[]]>([
    [0, 1, []],
    [
      0,
      8,
      [
        "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
        "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
        "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
      ],
    ],
    [
      5,
      8,
      [
        "bc1a0643b12e4d2d7c77918f44e0f4f79a838b6cf9ec5b5c283e1f4d88599e6b",
        "ca854ea128ed050b41b35ffc1b87b8eb2bde461e9e3b5596ece6b9d5975a0ae0",
        "d37ee418976dd95753c1c73862b9398fa2a2cf9b4ff0fdfe8b30cd95209614b7",
      ],
    ],
    [2, 3, ["fac54203e7cc696cf0dfcb42c92a1d9dbaf70ad9e621f4bd8d98662f00e3c125"]],
  ])("is the published one for leaf %i of %i", (index, size, expected) => {
    expect(inclusionProof(leafHashes, index, size)).toEqual(expected);
  });

  it("verify, and fail once anything in them is altered", () => {
    const some = fc.array(fc.uint8Array({ maxLength: 8 }), { minLength: 1, maxLength: 40 });
    fc.assert(
      fc.property(some, fc.nat(), bit, fc.nat(), (all, indexSeed, flipped, place) => {
        const leaves = all.map((record, at) => leafHash(Buffer.from([at, ...record])));
        const size = leaves.length;
        const index = indexSeed % size;
        const leaf = leaves[index] ?? "";
        const proof = inclusionProof(leaves, index);
        const claim = { leaf, index, size, root: rootOf(grow(leaves)), proof };
        expect(verifyInclusion(claim)).toBe(true);
        expect(verifyInclusion({ ...claim, leaf: flip(leaf, flipped) })).toBe(false);
        expect(verifyInclusion({ ...claim, root: flip(claim.root, flipped) })).toBe(false);
        expect(verifyInclusion({ ...claim, proof: [...proof, leaf] })).toBe(false);
        expect(verifyInclusion({ ...claim, proof: [leaf, ...proof] })).toBe(false);
        for (let other = 0; other < size; other += 1) {
          expect(verifyInclusion({ ...claim, index: other })).toBe(other === index);
        }
        if (proof.length > 0) {
          const at = place % proof.length;
          const altered = proof.map((hash, position) => (position === at ? flip(hash, flipped) : hash));
          expect(verifyInclusion({ ...claim, proof: altered })).toBe(false);
          expect(verifyInclusion({ ...claim, proof: proof.toSpliced(at, 1) })).toBe(false);
        }
      }),
    );
  });

  it.each([
    ["a negative index", { index: -1 }],
    ["an index that is the size", { index: 8 }],
    ["a fraction", { index: 0.5 }],
    ["size 0", { size: 0 }],
    ["a size that is no number", { size: "8" as unknown as number }],
    ["an unsafe size", { size: 2 ** 53 }],
    ["a leaf in capitals", { leaf: leafHashes[0]?.toUpperCase() ?? "" }],
    ["a proof that is no list", { proof: "x" as unknown as string[] }],
    ["a proof of other things", { proof: [1, 2, 3] as unknown as string[] }],
  ])("are refused with %s", (_name, change) => {
    const claim = {
      leaf: leafHashes[0] ?? "",
      index: 0,
      size: 8,
      root: rootAt(8),
      proof: inclusionProof(leafHashes, 0),
    };
    expect(verifyInclusion(claim)).toBe(true);
    expect(verifyInclusion({ ...claim, ...change })).toBe(false);
  });

  it.each([
    [8, 8],
    [-1, 8],
    [0, 9],
    [0, 0],
    [1.5, 8],
  ])("cannot be made for index %d of size %d", (index, size) => {
    expect(() => inclusionProof(leafHashes, index, size)).toThrow(
      expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }),
    );
  });
});

describe("consistency proofs", () => {
  it("is the published one from 1 to 8", () => {
    expect(consistencyProof(leafHashes, 1, 8)).toEqual([
      "96a296d224f285c67bee93c30f8a309157f0daa35dc5b87e410b78630a09cfc7",
      "5f083f0a1a33ca076a95279832580db3e0ef4584bdff1f54c8a360f50de3031e",
      "6b47aaf29ee3c2af9af889bc1fb9254dabd31177f16232dd6aab035ca39bf6e4",
    ]);
  });

  it("verify between all published roots", () => {
    for (let newSize = 0; newSize <= 8; newSize += 1) {
      for (let oldSize = 0; oldSize <= newSize; oldSize += 1) {
        const proof = consistencyProof(leafHashes, oldSize, newSize);
        const claim = { oldSize, oldRoot: rootAt(oldSize), newSize, newRoot: rootAt(newSize), proof };
        expect(verifyConsistency(claim), `${oldSize} to ${newSize}`).toBe(true);
      }
    }
  });

  it("verify, and fail once anything in them is altered", () => {
    fc.assert(
      fc.property(fc.nat({ max: 40 }), fc.nat({ max: 40 }), bit, fc.nat(), (one, other, flipped, place) => {
        const leaves = Array.from({ length: Math.max(one, other) }, (_, at) => leafHash(`${at}`));
        const oldSize = Math.min(one, other);
        const newSize = leaves.length;
        const proof = consistencyProof(leaves, oldSize, newSize);
        const oldRoot = rootOf(grow(leaves.slice(0, oldSize)));
        const claim = { oldSize, oldRoot, newSize, newRoot: rootOf(grow(leaves)), proof };
        expect(verifyConsistency(claim)).toBe(true);
        expect(verifyConsistency({ ...claim, oldRoot: flip(oldRoot, flipped) })).toBe(false);
        expect(verifyConsistency({ ...claim, proof: [...proof, oldRoot] })).toBe(false);
        if (oldSize > 0) {
          expect(verifyConsistency({ ...claim, newRoot: flip(claim.newRoot, flipped) })).toBe(false);
        }
        if (oldSize < newSize) {
          expect(verifyConsistency({ ...claim, oldSize: newSize, newSize: oldSize })).toBe(false);
        }
        for (let size = 1; size <= newSize; size += 1) {
          expect(verifyConsistency({ ...claim, oldSize: size })).toBe(size === oldSize);
        }
        if (proof.length > 0) {
          const at = place % proof.length;
          const altered = proof.map((hash, position) => (position === at ? flip(hash, flipped) : hash));
          expect(verifyConsistency({ ...claim, proof: altered })).toBe(false);
          expect(verifyConsistency({ ...claim, proof: proof.toSpliced(at, 1) })).toBe(false);
        }
      }),
    );
  });

  it.each([
    ["a negative size", { oldSize: -1 }],
    ["a fraction", { oldSize: 2.5 }],
    ["an unsafe size", { newSize: 2 ** 53 }],
    ["an old tree larger than the new", { oldSize: 9 }],
    ["a root that is no hash", { oldRoot: "" }],
    ["no proof", { proof: [] }],
  ])("are refused with %s", (_name, change) => {
    const proof = consistencyProof(leafHashes, 3, 8);
    const claim = { oldSize: 3, oldRoot: rootAt(3), newSize: 8, newRoot: rootAt(8), proof };
    expect(verifyConsistency(claim)).toBe(true);
    expect(verifyConsistency({ ...claim, ...change })).toBe(false);
  });

  it("refuses a root other than the empty one for an empty tree", () => {
    const claim = { oldSize: 0, oldRoot: rootAt(1), newSize: 0, newRoot: rootAt(1), proof: [] };
    expect(verifyConsistency(claim)).toBe(false);
    expect(verifyConsistency({ ...claim, newSize: 8, newRoot: rootAt(8) })).toBe(false);
  });

  it.each([
    [5, 3],
    [0, 9],
    [-1, 2],
  ])("cannot be made from %d to %d", (oldSize, newSize) => {
    expect(() => consistencyProof(leafHashes, oldSize, newSize)).toThrow(
      expect.objectContaining({ code: "BELAY_AUDIT_INVALID" }),
    );
  });
});
