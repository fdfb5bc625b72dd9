import { join } from "node:path";
import { expect, it } from "vitest";
import { bundleOf } from "../bench/bundle.ts";

it("has a root entry of at most 30,000 bytes, minified and gzipped, in one piece", async () => {
  const { bytes, pieces } = await bundleOf(join(import.meta.dirname, "../src/index.ts"));
  // A second piece is a module that an on-demand one imports too; it is to get it from its kit instead.
  expect(pieces).toEqual(["index.js"]);
  expect(bytes).toBeGreaterThan(10_000);
  expect(bytes).toBeLessThanOrEqual(30_000);
});
