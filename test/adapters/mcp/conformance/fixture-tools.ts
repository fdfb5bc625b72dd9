import { setTimeout as sleep } from "node:timers/promises";
import { z } from "zod";
import { currentMcpRequest } from "../../../../src/adapters/mcp/index.ts";
import { type AnyTool, defineTool } from "../../../../src/index.ts";

/** One red pixel and a silent second, as the suite wants to see an image and a sound. */
export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mP8z8DwHwAFBQIAX8jx0gAAAABJRU5ErkJggg==";
const SILENCE = "UklGRiYAAABXQVZFZm10IBAAAAABAAEAQB8AAAB9AAACABAAZGF0YQIAAAA=";

const NOTHING = z.strictObject({});
const text = (words: string) => ({ type: "text", text: words });

/** Tools whose results are fixed content of the protocol's kinds. */
const CONTENT: Readonly<Record<string, readonly object[]>> = {
  test_simple_text: [text("This is a simple text response for testing.")],
  test_image_content: [{ type: "image", data: PIXEL, mimeType: "image/png" }],
  test_audio_content: [{ type: "audio", data: SILENCE, mimeType: "audio/wav" }],
  test_embedded_resource: [
    {
      type: "resource",
      resource: {
        uri: "test://embedded-resource",
        mimeType: "text/plain",
        text: "This is an embedded resource content.",
      },
    },
  ],
  test_multiple_content_types: [
    text("Multiple content types test:"),
    { type: "image", data: PIXEL, mimeType: "image/png" },
    {
      type: "resource",
      resource: {
        uri: "test://mixed-content-resource",
        mimeType: "application/json",
        text: '{"test":"data","value":123}',
      },
    },
  ],
};

/** Tools that only `present` gives an answer: questions to the client in the modern era. */
const ASKING = [
  "test_missing_capability",
  "test_streaming_elicitation",
  "test_input_required_result_elicitation",
  "test_input_required_result_sampling",
  "test_input_required_result_list_roots",
  "test_input_required_result_request_state",
  "test_input_required_result_multiple_inputs",
  "test_input_required_result_multi_round",
  "test_input_required_result_tampered_state",
  "test_input_required_result_capabilities",
];

function tool(name: string, execute: () => unknown): AnyTool {
  return defineTool({
    name,
    description: `Fixture ${name}`,
    level: "write",
    recovery: "opaque",
    input: NOTHING,
    execute,
  });
}

/** Asks the client while the call runs, which only the 2025 era can. */
async function send(method: "sampling/createMessage" | "elicitation/create", params: object): Promise<unknown> {
  return await currentMcpRequest()?.mcpReq.send({ method, params } as never);
}

function asking(name: string, properties: object): AnyTool {
  return tool(name, async () => {
    const answer = await send("elicitation/create", {
      message: "Please fill in the form",
      requestedSchema: { type: "object", properties, required: [] },
    });
    return { content: [text(`Elicitation completed: ${JSON.stringify(answer)}`)] };
  });
}

const DEFAULTS = {
  name: { type: "string", description: "User name", default: "John Doe" },
  age: { type: "integer", description: "User age", default: 30 },
  score: { type: "number", description: "User score", default: 95.5 },
  status: { type: "string", description: "Status", enum: ["active", "inactive", "pending"], default: "active" },
  verified: { type: "boolean", description: "Verified", default: true },
};

const options = ["option1", "option2", "option3"];
const titled = ["value1", "value2", "value3"].map((value, at) => ({ const: value, title: `Choice ${at + 1}` }));
const ENUMS = {
  untitledSingle: { type: "string", enum: options },
  titledSingle: { type: "string", oneOf: titled },
  legacyEnum: { type: "string", enum: ["opt1", "opt2"], enumNames: ["Option One", "Option Two"] },
  untitledMulti: { type: "array", minItems: 1, maxItems: 3, items: { type: "string", enum: options } },
  titledMulti: { type: "array", minItems: 1, maxItems: 3, items: { anyOf: titled } },
};

export function fixtureTools(changed: (what: "tools" | "prompts") => void): readonly AnyTool[] {
  return [
    ...Object.entries(CONTENT).map(([name, content]) => tool(name, () => ({ content }))),
    ...ASKING.map((name) => tool(name, () => null)),
    tool("test_error_handling", () => {
      throw new Error("This tool intentionally returns an error for testing");
    }),
    tool("test_logging_tool", async () => {
      await currentMcpRequest()?.mcpReq.log("info", "A line that only a client which asked for it hears");
      return { content: [text("done")] };
    }),
    tool("test_tool_with_logging", async () => {
      for (const line of ["Tool execution started", "Tool processing data", "Tool execution completed"]) {
        await currentMcpRequest()?.mcpReq.log("info", line);
        await sleep(50);
      }
      return { content: [text("logged")] };
    }),
    tool("test_tool_with_progress", async () => {
      const request = currentMcpRequest()?.mcpReq;
      const progressToken = request?._meta?.progressToken ?? 0;
      for (const progress of [0, 50, 100]) {
        await request?.notify({ method: "notifications/progress", params: { progressToken, progress, total: 100 } });
        await sleep(20);
      }
      return { content: [text(String(progressToken))] };
    }),
    tool("test_trigger_tool_change", () => changed("tools")),
    tool("test_trigger_prompt_change", () => changed("prompts")),
    defineTool({
      name: "test_sampling",
      description: "Asks the client's model",
      level: "write",
      recovery: "opaque",
      input: z.strictObject({ prompt: z.string() }),
      execute: async ({ prompt }) => {
        const answer = await send("sampling/createMessage", {
          messages: [{ role: "user", content: text(prompt) }],
          maxTokens: 100,
        });
        return { content: [text(`LLM response: ${JSON.stringify(answer)}`)] };
      },
    }),
    defineTool({
      name: "test_elicitation",
      description: "Asks the client's user",
      level: "write",
      recovery: "opaque",
      input: z.strictObject({ message: z.string() }),
      execute: async ({ message }) => {
        const requestedSchema = {
          type: "object",
          properties: { response: { type: "string", description: "User's response" } },
          required: ["response"],
        };
        const answer = await send("elicitation/create", { message, requestedSchema });
        return { content: [text(`User response: ${JSON.stringify(answer)}`)] };
      },
    }),
    asking("test_elicitation_sep1034_defaults", DEFAULTS),
    asking("test_elicitation_sep1330_enums", ENUMS),
  ];
}
