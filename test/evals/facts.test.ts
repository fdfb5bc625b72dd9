import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { holdsBoundFact, holdsFact } from "../../src/evals/index.ts";

const ASKED = "How many units of SKU-1017 do we have?";

describe("holdsFact", () => {
  it("finds a fact anywhere, also where it is another", () => {
    expect(holdsFact("It costs $64.00.", "64")).toBe(true);
    expect(holdsFact("Status OPEN", "open")).toBe(true);
    expect(holdsFact("It costs $46.00.", "64")).toBe(false);
  });
});

describe("holdsBoundFact", () => {
  it.each([
    ["SKU-1017 has 64 units in stock.", true],
    ["SKU-1017 has 64, and more come.", true],
    ["SKU-1017 has (64).", true],
    ["There are 64 of them.", true],
    ["SKU-1017 costs $64.00.", false],
    ["SKU-1017 costs €64.", false],
    ["SKU-1017 has 1,064 units.", false],
    ["SKU-1017 has 64.5 units.", false],
    ["SKU-1017 has 164 units.", false],
    ["SKU-1017 has 640 units.", false],
    ["SKU-1002 has 64 units.", false],
    ["SKU-1002 has 12; SKU-1017 has 64.", true],
    ["SKU-1017 has 12; SKU-1002 has 64.", false],
    ["SKU-1017 was counted. It has 64 units.", true],
    ["SKU-1002 was counted. It has 64 units.", false],
  ])("%s: %s", (answer, expected) => {
    expect(holdsBoundFact(answer, "64", ASKED)).toBe(expected);
  });

  it("takes a fact that is itself an id wherever it stands", () => {
    expect(holdsBoundFact("Look at SKU-1002.", "SKU-1002", ASKED)).toBe(true);
    expect(holdsBoundFact("Look at SKU-10022.", "SKU-1002", ASKED)).toBe(false);
  });

  it("looks for whole words alone when the question names nothing", () => {
    expect(holdsBoundFact("SKU-1002 ships by road only.", "road only", "How does it ship?")).toBe(true);
    expect(holdsBoundFact("By railroad only.", "road only", "How does it ship?")).toBe(false);
  });

  it("is never more generous than the plain one, and takes no text for a pattern", () => {
    const text = fc.string({ unit: fc.constantFrom("a", "6", "4", ".", "$", "(", "\\", " ", "SKU-1017") });
    fc.assert(
      fc.property(
        text,
        text.filter((fact) => fact !== ""),
        (answer, fact) => {
          if (holdsBoundFact(answer, fact, ASKED)) {
            expect(holdsFact(answer, fact)).toBe(true);
          }
        },
      ),
    );
  });
});
