import { hash } from "node:crypto";
import { canonicalize, checkJsonValue, type JsonValue, printable } from "../core/index.ts";
import { BelayError } from "../errors.ts";
import { type ToolContract, undoName } from "./executor.ts";
import { isJsonObject } from "./json-object.ts";
import type { AnyTool } from "./tool.ts";
import { isToolName } from "./tool-name.ts";

const LEVELS: readonly string[] = ["read", "write", "admin", "irreversible"];
const RECOVERY_CLASSES: readonly string[] = ["read", "keyed", "queryable", "opaque"];
const TIMEOUT_DEFAULT_MS = 30_000;
const TIMEOUT_MAX_MS = 3_600_000;

/**
 * Makes the contract of a declared tool, with its hash.
 *
 * Throws `BELAY_TOOL_NAME`, `BELAY_TOOL_CONTRACT` or `BELAY_TOOL_SCHEMA` for a tool that could not be run safely.
 */
export function contractOf(tool: AnyTool): ToolContract {
  checkName(tool.name);
  const problem = contractProblem(tool);
  if (problem !== undefined) {
    throw new BelayError("BELAY_TOOL_CONTRACT", `The tool "${tool.name}" ${problem}`);
  }
  const contract = {
    name: tool.name,
    description: tool.description,
    level: tool.level,
    recovery: tool.recovery,
    inputSchema: schemaOf(tool),
    timeoutMs: tool.timeoutMs ?? TIMEOUT_DEFAULT_MS,
    inTransaction: tool.inTransaction === true,
    untrusted: tool.untrusted === true,
    ...(tool.risk === undefined ? {} : { risk: tool.risk }),
    ...(tool.compensate === undefined ? {} : { compensable: true as const }),
  };
  return Object.freeze({ ...contract, contractHash: hashContract(contract) });
}

/** SHA-256, in hex, of the canonical JSON of a contract; the order of keys does not matter. */
export function hashContract(contract: Omit<ToolContract, "contractHash">): string {
  const canonical = canonicalize(contract);
  if (!canonical.ok) {
    throw new BelayError(
      "BELAY_TOOL_SCHEMA",
      `The contract of the tool "${printable(contract.name)}" is not JSON at ${canonical.path}: ${canonical.problem}. ` +
        "Use plain values in its description and schema.",
    );
  }
  return hash("sha256", canonical.text);
}

function checkName(name: unknown): void {
  if (!isToolName(name)) {
    throw new BelayError(
      "BELAY_TOOL_NAME",
      `"${printable(String(name))}" cannot name a tool. Use 1 to 64 ASCII letters, digits, "_" and "-".`,
    );
  }
}

function contractProblem(tool: AnyTool): string | undefined {
  if (typeof tool.description !== "string" || typeof tool.execute !== "function") {
    return "lacks a description or an execute function. Add it.";
  }
  if (!LEVELS.includes(tool.level)) {
    return `has the level "${printable(String(tool.level))}". Use one of ${LEVELS.join(", ")}.`;
  }
  if (!RECOVERY_CLASSES.includes(tool.recovery)) {
    return `has the recovery class "${printable(String(tool.recovery))}". Use one of ${RECOVERY_CLASSES.join(", ")}.`;
  }
  return recoveryProblem(tool) ?? timingProblem(tool) ?? compensationProblem(tool);
}

function compensationProblem({ compensate, level, name }: AnyTool): string | undefined {
  if (compensate === undefined) return undefined;
  return typeof compensate === "function" && level !== "read" && isToolName(undoName(name))
    ? undefined
    : "has a compensate that cannot run. Make it a function of a changing tool with a name of at most 59 characters.";
}

function recoveryProblem(tool: AnyTool): string | undefined {
  if ((tool.level === "read") !== (tool.recovery === "read")) {
    return (
      `has the level "${tool.level}" and the recovery class "${tool.recovery}". Only a tool of level "read" may be ` +
      'repeated freely: use "read" for both or for neither.'
    );
  }
  if (tool.recovery === "queryable" && typeof tool.lookup !== "function") {
    return 'is "queryable" and has no lookup function. Add lookup(), or choose the recovery class "opaque".';
  }
  if (tool.risk !== undefined && tool.risk !== "may_happen_twice_or_unknown") {
    return 'has an unknown risk. Leave it out, or use "may_happen_twice_or_unknown".';
  }
  if (tool.level === "irreversible" && tool.recovery === "opaque" && tool.risk === undefined) {
    return (
      'is "irreversible" and "opaque": after a crash nobody can tell whether it happened. Give it a "keyed" or ' +
      '"queryable" recovery, or accept risk: "may_happen_twice_or_unknown", which makes every call ask a person.'
    );
  }
  return undefined;
}

function timingProblem(tool: AnyTool): string | undefined {
  const timeoutMs = tool.timeoutMs ?? TIMEOUT_DEFAULT_MS;
  if (!Number.isSafeInteger(timeoutMs) || timeoutMs < 1 || timeoutMs > TIMEOUT_MAX_MS) {
    return `has the timeoutMs ${String(timeoutMs)}. Use a whole number from 1 to ${TIMEOUT_MAX_MS} (one hour).`;
  }
  const isAsync = [tool.execute, tool.compensate].some((work) => work?.constructor.name === "AsyncFunction");
  if (tool.inTransaction === true && isAsync) {
    return 'is "inTransaction" and asynchronous. A transaction must not stay open over an await: make it synchronous.';
  }
  return undefined;
}

function schemaOf(tool: AnyTool): JsonValue {
  const remedy = "Use a schema of a library that can make JSON Schema (zod 4.2, arktype 2.1.28 or later).";
  let made: unknown;
  try {
    made = tool.input["~standard"].jsonSchema.input({ target: "draft-2020-12" });
    if (typeof tool.input["~standard"].validate !== "function") {
      made = undefined;
    }
  } catch (cause) {
    const message = `The input schema of the tool "${tool.name}" cannot be written as JSON Schema. ${remedy}`;
    throw new BelayError("BELAY_TOOL_SCHEMA", message, { cause });
  }
  const checked = checkJsonValue(made);
  if (!checked.ok || !isJsonObject(checked.value)) {
    throw new BelayError("BELAY_TOOL_SCHEMA", `The input schema of the tool "${tool.name}" is not usable. ${remedy}`);
  }
  if ("type" in checked.value && checked.value["type"] !== "object") {
    const message = `The input schema of the tool "${tool.name}" is not an object. Declare its arguments as one object.`;
    throw new BelayError("BELAY_TOOL_SCHEMA", message);
  }
  return checked.value;
}
