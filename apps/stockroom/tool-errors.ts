import { type AnyTool, createToolExecutor, type FormatToolError, type JsonValue } from "belay-harness";

/** The one code for a call that the model wrote wrongly. */
export const INVALID_ARGUMENTS = "invalid_arguments";
export const BLOCKED_BY_GUARD = "blocked_by_guard";

/** Codes of the harness for arguments that are no sound JSON or do not fit the tool. */
const ARGUMENT_CODES = [
  ...["arguments_not_json", "arguments_too_large", "invalid_json", "not_json", "duplicate_key", "forbidden_key"],
  ...["not_finite", "unsafe_integer", "too_deep", "too_large", "lone_surrogate"],
];

/** The stockroom's names for what the harness itself refuses. */
export const CODES: Readonly<Record<string, string>> = {
  tool_not_offered: "unknown_tool",
  ...Object.fromEntries(ARGUMENT_CODES.map((code) => [code, INVALID_ARGUMENTS])),
};

export function stockroomCode(code: string): string {
  return (Object.hasOwn(CODES, code) ? CODES[code] : undefined) ?? code;
}

/**
 * What the model is told of a failed call: `{ error, message }`, and for wrong arguments the tool's whole schema as
 * `expected_schema` between the two.
 */
export function toolErrorFormat(tools: readonly AnyTool[]): FormatToolError {
  const schemas = new Map<string, JsonValue>(
    createToolExecutor(tools)
      .listTools()
      .map(({ name, inputSchema }) => [name, inputSchema]),
  );
  return (error, { tool }) => {
    const code = stockroomCode(error.code);
    const schema = code === INVALID_ARGUMENTS ? schemas.get(tool) : undefined;
    return {
      error: code,
      ...(schema === undefined ? {} : { expected_schema: schema }),
      message: error.message,
    };
  };
}
