export { type CalculateOptions, type Calculation, calculate } from "./calculate.ts";
export { type CalculateInput, calculateTool } from "./calculate-tool.ts";
export type { CalculationFailureCode } from "./expression.ts";
export type { SandboxLimits } from "./limits.ts";
export type { SandboxFailure, SandboxFailureCode } from "./outcome.ts";
export type { Rounding } from "./rational.ts";
export { createSandbox, type EvaluateOptions, type Sandbox, type SandboxResult } from "./sandbox.ts";
