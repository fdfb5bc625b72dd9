import { readFileSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { z } from "zod";
import { guardsSuite, referenceSuite } from "../../apps/shop/scenarios/index.ts";
import * as stockroom from "../../apps/stockroom/golden/index.ts";
import { evalCaseSchema } from "../../src/evals/case-fields.ts";
import { parseCases } from "../../src/evals/load-suite.ts";

const project = join(import.meta.dirname, "../..");
const committed = JSON.parse(readFileSync(join(project, "docs/eval-case.schema.json"), "utf8"));
const schema = z.fromJSONSchema(committed);

const accepts = (value: unknown): boolean => {
  try {
    parseCases(JSON.stringify(value), "one.jsonl");
    return true;
  } catch {
    return false;
  }
};

describe("docs/eval-case.schema.json", () => {
  it("is what the field table makes", () => {
    expect(committed).toEqual(JSON.parse(JSON.stringify(evalCaseSchema())));
  });

  it("accepts every case of both apps", () => {
    const cases = [referenceSuite(), guardsSuite(), stockroom.referenceSuite(), stockroom.guardsSuite()].flatMap(
      (suite) => suite.cases,
    );
    expect(cases.length).toBeGreaterThan(200);
    expect(cases.filter((evalCase) => !schema.safeParse(evalCase).success).map(({ id }) => id)).toEqual([]);
  });

  it("agrees with the reader about cases with one field changed", () => {
    const [sample] = guardsSuite().cases.filter(({ id }) => id === "P10");
    const fields = Object.keys(committed.properties);
    const junk = fc.oneof(
      fc.constantFrom(null, "", "x", 0, 1, -1, 1.5, true, [], ["x"], [1], [[]], {}, { a: 1 }),
      fc.constantFrom([[{ tool: "get_order", args: {} }]], [{ tool: "a", args: 1 }], [{ final: "x" }]),
      fc.constantFrom({ stepsMax: 2 }, { stepsMax: -1 }, { identicalCalls: "off" }, { seen: ["x"] }, { seen: [""] }),
      fc.constantFrom(
        [{ when: "effect", kind: "x" }],
        [{ when: "later", kind: "x" }],
        [{ name: "t", compare: { a: "near" } }],
      ),
      fc.constantFrom({ limit: "tokensMax", add: -1 }, { limit: "tokensMax", add: 0.5 }, ["cancel"], ["cancell"]),
    );
    let refused = 0;
    fc.assert(
      fc.property(fc.constantFrom(...fields, "unknown"), junk, (field, value) => {
        const changed = { ...sample, [field]: value };
        const isAccepted = accepts(changed);
        refused += isAccepted ? 0 : 1;
        expect([field, value, schema.safeParse(changed).success]).toEqual([field, value, isAccepted]);
      }),
      { numRuns: 500, seed: 3 },
    );
    expect(refused).toBeGreaterThan(100);
  });
});
