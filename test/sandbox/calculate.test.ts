import fc from "fast-check";
import { describe, expect, it } from "vitest";
import { calculate, calculateTool, type Rounding } from "../../src/sandbox/index.ts";
import { createToolExecutor, type ToolContext } from "../../src/tool/index.ts";

const value = (expression: string, rounding?: Rounding): unknown => {
  const calculation = calculate(expression, rounding === undefined ? {} : { rounding });
  return calculation.ok ? calculation.value : calculation.code;
};

describe("calculate", () => {
  it.each([
    ["0.1 + 0.2", "0.3"],
    ["1.10 * 3", "3.3"],
    ["1.005 * 1000", "1005"],
    ["9007199254740993 + 0.01", "9007199254740993.01"],
    ["2 + 3 * 4 - 5", "9"],
    ["10 - 3 - 2", "5"],
    ["100 / 8 / 5", "2.5"],
    ["(2 + 3) * (4 - 5)", "-5"],
    ["-(-2)", "2"],
    ["2 * -3", "-6"],
    ["- -3", "3"],
    ["10 / 3 * 3", "10"],
    ["0.00", "0"],
    ["-0", "0"],
    ["1250.50 * 18%", "225.09"],
    ["100 * (1 + 10%)", "110"],
    ["(1 - 2.5%) * 80", "78"],
    ["10% + 5%", "0.15"],
    ["50%", "0.5"],
    ["\t1\n+ 1 ", "2"],
  ])("makes %s to %s", (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it.each([
    // Sign and distance decide: 2.5, -2.5, 3.5, 2.51 and 2.49 to whole numbers.
    ["half_even", "2", "-2", "4", "3", "2"],
    ["half_up", "3", "-3", "4", "3", "2"],
    ["half_down", "2", "-2", "3", "3", "2"],
    ["up", "3", "-3", "4", "3", "3"],
    ["down", "2", "-2", "3", "2", "2"],
    ["ceiling", "3", "-2", "4", "3", "3"],
    ["floor", "2", "-3", "3", "2", "2"],
  ] as const)("rounds %s", (rounding, ...expected) => {
    const numbers = ["2.5", "-2.5", "3.5", "2.51", "2.49"];
    expect(numbers.map((number) => value(`round(${number}, 0)`, rounding))).toEqual(expected);
    expect(numbers.map((number) => value(`round(${number}, 0, ${rounding})`))).toEqual(expected);
  });

  it.each([
    ["round(10 / 3, 2, half_even)", "3.33"],
    ["round(2 / 3, 4, half_up)", "0.6667"],
    ["round(1.005, 2, half_even)", "1"],
    ["round(1.015, 2, half_even)", "1.02"],
    ["round(round(1 / 3, 2, up) * 3, 1, down)", "1"],
    ["round(5, 2, up)", "5"],
    ["round(-0.4, 0, half_even)", "0"],
  ])("makes %s to %s", (expression, expected) => {
    expect(value(expression)).toBe(expected);
  });

  it("lets the expression's own mode win", () => {
    expect(value("round(2.5, 0, up) + round(2.5, 0)", "down")).toBe("5");
  });

  it.each([
    ["10 / 3", "not_exact"],
    ["1 / 7 + 0.1", "not_exact"],
    ["round(10 / 3, 2)", "rounding_missing"],
    ["1 / 0", "division_by_zero"],
    ["1 / (0.1 - 1 / 10)", "division_by_zero"],
    ["100 + 10%", "ambiguous_percent"],
    ["250 - 5%", "ambiguous_percent"],
    ["", "syntax_error"],
    ["1 +", "syntax_error"],
    ["(1", "syntax_error"],
    ["1)", "syntax_error"],
    ["1 1", "syntax_error"],
    ["1e5", "syntax_error"],
    ["1_000", "syntax_error"],
    ["1,000", "syntax_error"],
    ["0x10", "syntax_error"],
    ["010", "syntax_error"],
    [".5", "syntax_error"],
    ["5.", "syntax_error"],
    ["1.2.3", "syntax_error"],
    ["5%%", "syntax_error"],
    ["2 ** 3", "syntax_error"],
    ["10 % 3", "syntax_error"],
    ["٣ + 1", "syntax_error"],
    ["1 − 1", "syntax_error"],
    ["process.exit()", "syntax_error"],
    ["constructor", "syntax_error"],
    ["round(1.5)", "syntax_error"],
    ["round(1.5, 1.5, up)", "syntax_error"],
    ["round(1.5, -1, up)", "syntax_error"],
    ["round(1.5, 61, up)", "syntax_error"],
    ["round(1,000, 2, up)", "syntax_error"],
    ["round(1.5, 1, nearest)", "syntax_error"],
    ["NaN", "syntax_error"],
    [`${"(".repeat(51)}1${")".repeat(51)}`, "too_large"],
    [`${"-".repeat(60)}1`, "too_large"],
    ["9".repeat(61), "too_large"],
    [`1${" * 99999999999999999999".repeat(25)}`, "too_large"],
    [`1${" / 99999999999999999999".repeat(25)}`, "too_large"],
    ["1".repeat(2001), "too_large"],
  ])("refuses %s: %s", (expression, code) => {
    expect(value(expression)).toBe(code);
  });

  it("says where, in printable words", () => {
    expect(calculate("1 + \u202e2")).toEqual({
      ok: false,
      code: "syntax_error",
      message: 'At character 5 found "\\u{202e}"; expected a number, round or a parenthesis.',
    });
  });

  const cents = fc.bigInt({ min: -(10n ** 20n), max: 10n ** 20n });
  const written = (amount: bigint): string => {
    const digits = (amount < 0n ? -amount : amount).toString().padStart(3, "0");
    return `${amount < 0n ? "-" : ""}${digits.slice(0, -2)}.${digits.slice(-2)}`;
  };
  const read = (text: unknown): bigint => {
    const [whole = "", fraction = ""] = String(text).replace("-", "").split(".");
    const amount = BigInt(whole + fraction.padEnd(2, "0"));
    return String(text).startsWith("-") ? -amount : amount;
  };

  it("agrees with whole cents for sums and differences", () => {
    fc.assert(
      fc.property(cents, cents, (one, other) => {
        expect(read(value(`${written(one)} + ${written(other)}`))).toBe(one + other);
        expect(read(value(`${written(one)} - (${written(other)})`))).toBe(one - other);
      }),
    );
  });

  it("undoes every division by the multiplication", () => {
    fc.assert(
      fc.property(cents, cents, (one, other) => {
        fc.pre(other !== 0n);
        expect(read(value(`${written(one)} / (${written(other)}) * (${written(other)})`))).toBe(one);
      }),
    );
  });

  it("never rounds further than one place, nor to another side than asked", () => {
    fc.assert(
      fc.property(cents, fc.integer({ min: 1, max: 999 }), (one, divisor) => {
        const [low, high] = (["floor", "ceiling"] as const).map((rounding) =>
          read(value(`round(${written(one)} / ${divisor}, 2)`, rounding)),
        );
        const [scaled, by] = [one, BigInt(divisor)];
        expect((low ?? 0n) * by <= scaled && (high ?? 0n) * by >= scaled).toBe(true);
        expect((high ?? 0n) - (low ?? 0n)).toBe(scaled % by === 0n ? 0n : 1n);
      }),
    );
  });

  it("never throws, whatever the text", () => {
    const tokens = fc.constantFrom(
      "1",
      "0.5",
      "+",
      "-",
      "*",
      "/",
      "%",
      "(",
      ")",
      "round(",
      ",",
      "up",
      " ",
      "é",
      "\u0000",
    );
    fc.assert(
      fc.property(
        fc.oneof(
          fc.string(),
          fc.array(tokens).map((all) => all.join("")),
        ),
        (text) => {
          expect(typeof calculate(text).ok).toBe("boolean");
        },
      ),
      { numRuns: 500 },
    );
  });
});

describe("calculateTool", () => {
  const executor = createToolExecutor([calculateTool()]);
  const context = {} as ToolContext;
  const call = async (args: Parameters<typeof executor.check>[1]) => {
    const checked = await executor.check("calculate", args);
    return checked.ok ? executor.execute("calculate", checked.args, context) : checked;
  };

  it("is a tool of level read", () => {
    expect(executor.listTools()).toMatchObject([{ name: "calculate", level: "read", recovery: "read" }]);
  });

  it("gives the result as text", async () => {
    expect(await call({ expression: "0.1 + 0.2" })).toEqual({ ok: true, value: { result: "0.3" } });
    expect(await call({ expression: "round(10 / 3, 2)", rounding: "up" })).toEqual({
      ok: true,
      value: { result: "3.34" },
    });
  });

  it("tells the model how to mend a calculation", async () => {
    expect(await call({ expression: "10 / 3" })).toMatchObject({
      ok: false,
      error: { code: "not_exact", message: expect.stringContaining("round(") },
    });
  });

  it.each([{}, { expression: 5 }, { expression: "1", rounding: "nearest" }, { expression: "1", other: 1 }])(
    "refuses the arguments %j",
    async (args) => {
      expect(await call(args)).toMatchObject({ ok: false });
    },
  );
});
