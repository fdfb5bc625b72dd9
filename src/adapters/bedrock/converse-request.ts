import type { ConverseCommandInput, Tool } from "@aws-sdk/client-bedrock-runtime";
import type { ModelRequest, ToolSpec } from "../../model/index.ts";
import type { CachePoints } from "./cache-points.ts";
import { converseMessages } from "./converse-messages.ts";

const CACHE_POINT = { cachePoint: { type: "default" } } as const;

/** One request in the words of the Converse API. */
export function converseRequest(
  modelId: string,
  request: ModelRequest,
  cachePoints: CachePoints,
): ConverseCommandInput {
  const { system, messages, tools, replyTokensMax, temperature } = request;
  const hasTools = tools.length > 0;
  return {
    modelId,
    messages: converseMessages(messages, hasTools),
    inferenceConfig: { maxTokens: replyTokensMax, temperature },
    ...(system.trim() !== "" && { system: [{ text: system }, ...(cachePoints.system ? [CACHE_POINT] : [])] }),
    ...(hasTools && { toolConfig: { tools: [...tools.map(toolSpec), ...(cachePoints.tools ? [CACHE_POINT] : [])] } }),
  };
}

function toolSpec({ name, description, inputSchema }: ToolSpec): Tool {
  const json = inputSchema as NonNullable<NonNullable<NonNullable<Tool["toolSpec"]>["inputSchema"]>["json"]>;
  return { toolSpec: { name, inputSchema: { json }, ...(description.trim() !== "" && { description }) } };
}
