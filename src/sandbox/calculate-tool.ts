import type { Tool, ToolSchema } from "../tool/index.ts";
import { defineTool, toolFailure } from "../tool/index.ts";
import { calculate } from "./calculate.ts";
import { ROUNDINGS, type Rounding } from "./rational.ts";

export interface CalculateInput {
  readonly expression: string;
  readonly rounding?: Rounding;
}

const DESCRIPTION =
  "Calculates exactly with decimal numbers, for money. Knows + - * / and parentheses, % after a number (10% is 0.1), " +
  "and round(x, places), which needs `rounding` or a third argument such as half_even. Write numbers plainly (1250.50). " +
  "Gives the result as text.";

const JSON_SCHEMA = {
  type: "object",
  properties: {
    expression: { type: "string", description: "Such as round(1250.50 * 18%, 2)" },
    rounding: { type: "string", enum: [...ROUNDINGS], description: "How round() rounds" },
  },
  required: ["expression"],
  additionalProperties: false,
};

// Written out, because this folder must not need a schema library.
const INPUT: ToolSchema<CalculateInput> = {
  "~standard": {
    version: 1,
    vendor: "belay",
    validate: (value) => {
      const { expression, rounding } = value as Readonly<Record<string, unknown>>;
      if (typeof expression !== "string") {
        return { issues: [{ message: "expected a string", path: ["expression"] }] };
      }
      if (rounding === undefined) return { value: { expression } };
      const known = ROUNDINGS.find((name) => name === rounding);
      return known === undefined
        ? { issues: [{ message: `expected one of ${ROUNDINGS.join(", ")}`, path: ["rounding"] }] }
        : { value: { expression, rounding: known } };
    },
    jsonSchema: { input: () => JSON_SCHEMA, output: () => JSON_SCHEMA },
  },
};

/**
 * A ready-made tool `calculate` of level `read`: exact decimals for money, by an evaluator of its own and never by `eval`.
 *
 * A calculation that cannot be done exactly is a failure that says how to mend it.
 */
export function calculateTool(): Tool<ToolSchema<CalculateInput>, { readonly result: string }> {
  return defineTool({
    name: "calculate",
    description: DESCRIPTION,
    level: "read",
    recovery: "read",
    input: INPUT,
    execute: ({ expression, rounding }) => {
      const calculation = calculate(expression, rounding === undefined ? {} : { rounding });
      return calculation.ok ? { result: calculation.value } : toolFailure(calculation.code, calculation.message);
    },
  });
}
