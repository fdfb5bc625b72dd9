import fc from "fast-check";
import { expect, it } from "vitest";
import { argsHash as ofApproval } from "../../src/approval/index.ts";
import { approvalIsIntact, argsHash } from "../../src/journal/index.ts";

it("the hash of a question does not depend on the order of its keys, and has one implementation", () => {
  expect(argsHash("refund", { a: 1, b: [2] })).toBe(argsHash("refund", { b: [2], a: 1 }));
  expect(ofApproval).toBe(argsHash);
});

it("an inbox line is intact until its tool, its arguments or its hash is another", () => {
  fc.assert(
    fc.property(fc.string(), fc.jsonValue(), fc.string(), fc.jsonValue(), (tool, args, otherTool, otherArgs) => {
      const row = { tool, args: args as never, argsHash: argsHash(tool, args as never) };
      expect(approvalIsIntact(row)).toBe(true);
      const edited = { ...row, tool: otherTool, args: otherArgs as never };
      const isSame = argsHash(otherTool, otherArgs as never) === row.argsHash;
      expect(approvalIsIntact(edited)).toBe(isSame);
      expect(approvalIsIntact({ ...row, argsHash: "x" })).toBe(false);
    }),
  );
});

it("a line whose arguments no JSON can hold is not intact, and nothing is thrown", () => {
  expect(approvalIsIntact({ tool: "refund", args: Number.NaN, argsHash: "x" })).toBe(false);
});
