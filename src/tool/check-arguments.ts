import type { StandardSchemaV1 } from "@standard-schema/spec";
import { checkJsonValue, type JsonValue, printable, renderPath, type ToolError } from "../core/index.ts";
import type { Writing } from "./argument-error.ts";
import type { CheckedArgs, ToolContract } from "./executor.ts";
import { isJsonObject } from "./json-object.ts";
import { lostKeys } from "./lost-keys.ts";
import { unreadableArguments } from "./read-arguments.ts";
import { outcomeOf } from "./thenable.ts";
import type { AnyTool } from "./tool.ts";

/** Told of exceptions that must not reach the model; what it throws itself is ignored. */
export type OnToolError = (tool: string, error: unknown) => void;

/**
 * Checks arguments against a tool's schema and gives the validated value, which is what rules, people and the tool see.
 *
 * Undeclared arguments are refused even where the schema would strip them. Never throws; a schema that answers at once
 * has accepted arguments at once.
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
    return explained((errors) => errors.notAnObject(WRITING, args));
  }
  const absent = inheritedInstead(contract.inputSchema, args);
  if (absent !== undefined) {
    return explained((errors) => errors.missingArgument(WRITING, contract.inputSchema, absent));
  }
  const failed = (error: unknown): Promise<CheckedArgs> => {
    onError(tool.name, error);
    return invalid(contract, args, [{ message: "the schema could not check it" }]);
  };
  const settle = (result: unknown): CheckedArgs | Promise<CheckedArgs> => {
    const checked = concluded(contract, args, result as StandardSchemaV1.Result<unknown>);
    // What a schema says about its issues may throw when it is read.
    return checked instanceof Promise ? checked.catch(failed) : checked;
  };
  return outcomeOf(() => tool.input["~standard"].validate(copied.value), settle, failed);
}

/** A schema may take an inherited `toString` for an argument; JSON Schema means own properties. */
function inheritedInstead(schema: JsonValue, args: JsonValue): string | undefined {
  const required = isJsonObject(schema) && Object.hasOwn(schema, "required") ? schema["required"] : undefined;
  const names: readonly JsonValue[] = Array.isArray(required) ? required : [];
  return names.find(
    (name): name is string =>
      typeof name === "string" && name in Object.prototype && !(isJsonObject(args) && Object.hasOwn(args, name)),
  );
}

function concluded(
  contract: ToolContract,
  args: JsonValue,
  result: StandardSchemaV1.Result<unknown>,
): CheckedArgs | Promise<CheckedArgs> {
  if (result.issues) {
    return invalid(contract, args, result.issues);
  }
  const checked = checkJsonValue(result.value);
  if (!checked.ok) {
    const message = `the tool's schema made something of the arguments that is not JSON: ${checked.message}`;
    return refused({ code: "arguments_not_json", message, retryable: false, details: { path: checked.path } });
  }
  const lost = lostKeys(args, checked.value);
  return lost.length > 0
    ? explained((errors) => errors.unexpectedArguments(WRITING, lost))
    : { ok: true, args: checked.value };
}

const WRITING: Writing = { printable, renderPath };

function invalid(
  { inputSchema }: ToolContract,
  args: JsonValue,
  issues: readonly StandardSchemaV1.Issue[],
): Promise<CheckedArgs> {
  return explained((errors) => errors.invalidArguments(WRITING, inputSchema, args, issues));
}

/** What explains to a model where it went wrong is loaded for the first call that went wrong. */
async function explained(explain: (errors: typeof import("./argument-error.ts")) => ToolError): Promise<CheckedArgs> {
  return refused(explain(await import("./argument-error.ts")));
}

function refused(error: ToolError): CheckedArgs {
  return { ok: false, error };
}
