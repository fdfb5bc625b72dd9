import type { StandardSchemaV1 } from "@standard-schema/spec";
import { checkJsonValue, type JsonValue, type ToolError } from "../core/index.ts";
import { invalidArguments, missingArgument, notAnObject, unexpectedArguments } from "./argument-error.ts";
import type { CheckedArgs, ToolContract } from "./executor.ts";
import { lostKeys } from "./lost-keys.ts";
import { unreadableArguments } from "./read-arguments.ts";
import { isJsonObject, ownProperty } from "./sub-schema.ts";
import { asPromise, isThenable } from "./thenable.ts";
import type { AnyTool } from "./tool.ts";

/** Told of exceptions that must not reach the model; what it throws itself is ignored. */
export type OnToolError = (tool: string, error: unknown) => void;

/**
 * Checks arguments against a tool's schema and gives the validated value, which is what rules, people and the tool see.
 *
 * Undeclared arguments are refused even where the schema would strip them. Never throws; a schema that answers at once
 * gives a result at once.
 */
export function checkArguments(
  tool: AnyTool,
  contract: ToolContract,
  args: JsonValue,
  onError: OnToolError,
): CheckedArgs | Promise<CheckedArgs> {
  // A copy, because a schema may write into what it is given.
  const copied = checkJsonValue(args);
  if (!copied.ok) {
    return refused(unreadableArguments(copied));
  }
  if (!isJsonObject(args)) {
    return refused(notAnObject(args));
  }
  const absent = inheritedInstead(contract.inputSchema, args);
  if (absent !== undefined) {
    return refused(missingArgument(contract.inputSchema, absent));
  }
  const failed = (error: unknown): CheckedArgs => {
    onError(tool.name, error);
    return refused(invalidArguments(contract.inputSchema, args, [{ message: "the schema could not check it" }]));
  };
  const settle = (result: unknown): CheckedArgs => {
    try {
      return concluded(contract, args, result as StandardSchemaV1.Result<unknown>);
    } catch (error) {
      return failed(error);
    }
  };
  try {
    const result: unknown = tool.input["~standard"].validate(copied.value);
    return isThenable(result) ? asPromise(result).then(settle, failed) : settle(result);
  } catch (error) {
    return failed(error);
  }
}

/** A schema may take an inherited `toString` for an argument; JSON Schema means own properties. */
function inheritedInstead(schema: JsonValue, args: JsonValue): string | undefined {
  const required = ownProperty(schema, "required");
  const names: readonly JsonValue[] = Array.isArray(required) ? required : [];
  return names.find(
    (name): name is string =>
      typeof name === "string" && name in Object.prototype && ownProperty(args, name) === undefined,
  );
}

function concluded(contract: ToolContract, args: JsonValue, result: StandardSchemaV1.Result<unknown>): CheckedArgs {
  if (result.issues) {
    return refused(invalidArguments(contract.inputSchema, args, result.issues));
  }
  const checked = checkJsonValue(result.value);
  if (!checked.ok) {
    const message = `the tool's schema made something of the arguments that is not JSON: ${checked.message}`;
    return refused({ code: "arguments_not_json", message, retryable: false, details: { path: checked.path } });
  }
  const lost = lostKeys(args, checked.value);
  return lost.length > 0 ? refused(unexpectedArguments(lost)) : { ok: true, args: checked.value };
}

function refused(error: ToolError): CheckedArgs {
  return { ok: false, error };
}
