import { type McpServer, ResourceTemplate } from "@modelcontextprotocol/server";
import { z } from "zod";
import type { McpEra } from "../../../../src/adapters/mcp/index.ts";
import { ask, form } from "./fixture-questions.ts";
import { PIXEL } from "./fixture-tools.ts";

const words = (text: string) => ({ role: "user" as const, content: { type: "text" as const, text } });

/** Everything that the suite asks for and that is no tool. */
export function addExtras(server: McpServer, era: McpEra): void {
  server.server.registerCapabilities({
    completions: {},
    logging: {},
    resources: era === "legacy" ? { subscribe: true } : {},
  });
  addResources(server);
  addPrompts(server);
  server.server.setRequestHandler("completion/complete", () => ({
    completion: { values: ["paris", "park", "party"], total: 3, hasMore: false },
  }));
  if (era === "legacy") {
    server.server.setRequestHandler("resources/subscribe", () => ({}));
    server.server.setRequestHandler("resources/unsubscribe", () => ({}));
  }
}

function addResources(server: McpServer): void {
  const read = (uri: string, mimeType: string, content: { text: string } | { blob: string }) => ({
    contents: [{ uri, mimeType, ...content }],
  });
  server.registerResource("static-text", "test://static-text", { mimeType: "text/plain" }, () =>
    read("test://static-text", "text/plain", { text: "This is the content of the static text resource." }),
  );
  server.registerResource("static-binary", "test://static-binary", { mimeType: "image/png" }, () =>
    read("test://static-binary", "image/png", { blob: PIXEL }),
  );
  server.registerResource("watched-resource", "test://watched-resource", { mimeType: "text/plain" }, () =>
    read("test://watched-resource", "text/plain", { text: "Watched resource content" }),
  );
  server.registerResource(
    "template",
    new ResourceTemplate("test://template/{id}/data", { list: undefined }),
    { mimeType: "application/json" },
    (uri, { id }) =>
      read(uri.toString(), "application/json", { text: JSON.stringify({ id, data: `Data for ID: ${id}` }) }),
  );
}

function addPrompts(server: McpServer): void {
  server.registerPrompt("test_simple_prompt", { description: "Without arguments" }, () => ({
    messages: [words("This is a simple prompt for testing.")],
  }));
  server.registerPrompt(
    "test_prompt_with_arguments",
    { description: "With arguments", argsSchema: z.object({ arg1: z.string(), arg2: z.string() }) },
    ({ arg1, arg2 }) => ({ messages: [words(`Prompt with arguments: arg1='${arg1}', arg2='${arg2}'`)] }),
  );
  server.registerPrompt(
    "test_prompt_with_embedded_resource",
    { description: "With a resource", argsSchema: z.object({ resourceUri: z.string() }) },
    ({ resourceUri }) => ({
      messages: [
        {
          role: "user",
          content: {
            type: "resource",
            resource: { uri: resourceUri, mimeType: "text/plain", text: "Embedded resource content for testing." },
          },
        },
        words("Please process the embedded resource above."),
      ],
    }),
  );
  server.registerPrompt("test_prompt_with_image", { description: "With an image" }, () => ({
    messages: [
      { role: "user", content: { type: "image", data: PIXEL, mimeType: "image/png" } },
      words("Please analyze the image above."),
    ],
  }));
  server.registerPrompt("test_input_required_result_prompt", { description: "Asks first" }, (request) =>
    request.mcpReq.inputResponses?.["user_context"] === undefined
      ? ask({ user_context: form("What context should the prompt use?", "context") })
      : { messages: [words("Thank you for the context.")] },
  );
}
