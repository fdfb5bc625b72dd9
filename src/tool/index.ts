export { printable } from "../core/index.ts";
export { contractOf, hashContract } from "./contract.ts";
export { type CheckedArgs, type ToolContract, type ToolExecutor, type ToolResult, undoName } from "./executor.ts";
export { createToolExecutor, LOOKUP_FAILED } from "./in-process-executor.ts";
export { readArguments } from "./read-arguments.ts";
export { asPromise, isThenable } from "./thenable.ts";
export { type AnyTool, defineTool, type Tool, type ToolContext, type ToolSchema } from "./tool.ts";
export { isToolFailure, type ToolFailure, toolFailure } from "./tool-failure.ts";
export { isToolName } from "./tool-name.ts";
