import type { JsonValue } from "../../../core/index.ts";
import type { ToolSchema } from "../../../tool/index.ts";
import type { CompiledSchema } from "./compile-schema.ts";

/** Wraps a compiled schema as the input of a tool, so that a remote tool is checked like one of ours. */
export function toolSchema(compiled: CompiledSchema): ToolSchema<JsonValue> {
  return {
    "~standard": {
      version: 1,
      vendor: "belay-mcp",
      validate: (value) => {
        const issues = compiled.check(value as JsonValue);
        return issues.length === 0 ? { value: value as JsonValue } : { issues };
      },
      jsonSchema: {
        input: () => compiled.schema as Record<string, unknown>,
        output: () => compiled.schema as Record<string, unknown>,
      },
    },
  };
}
