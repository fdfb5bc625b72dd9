export type { ExcludedTool, McpDefinition } from "./client/catalog.ts";
export { TOOL_DEFINITION_CHANGED } from "./client/catalog.ts";
export type { McpLevels, McpToolClass, Unclassified } from "./client/classify.ts";
export { connectMcp, type McpExecutor } from "./client/connect.ts";
export { MCP_PROTOCOL_ERROR, MCP_TIMEOUT, MCP_UNAVAILABLE } from "./client/failure.ts";
export type { ConnectMcpOptions } from "./client/options.ts";
export { MCP_RESULT_INVALID, MCP_TOOL_ERROR } from "./client/read-result.ts";
export type { McpProtocol, McpTransport } from "./client/transports.ts";
export { type Compiled, type CompiledSchema, compileSchema } from "./schema/compile-schema.ts";
export type { PresentResult } from "./server/answer-call.ts";
export { currentMcpRequest } from "./server/current-request.ts";
export type { McpEra } from "./server/http-door.ts";
export { listenMcp, type McpListener, type McpListenOptions } from "./server/listen.ts";
export { RESET_TOOL, resetSessionTool, type SessionScope } from "./server/reset-tool.ts";
export {
  type CallerTrust,
  createMcpToolServer,
  type McpToolServer,
  type McpToolServerOptions,
} from "./server/tool-server.ts";
export {
  type AgentOverMcp,
  type McpToolsMode,
  type WithMcpToolsOptions,
  withMcpTools,
} from "./with-mcp-tools.ts";
