import {
  acceptedContent,
  type CallToolResult,
  CLIENT_CAPABILITIES_META_KEY,
  createRequestStateCodec,
  type InputRequiredResult,
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  type ServerContext,
} from "@modelcontextprotocol/server";
import type { PresentResult } from "../../../../src/adapters/mcp/index.ts";

type Answer = CallToolResult | InputRequiredResult;
type Requests = NonNullable<InputRequiredResult["inputRequests"]>;

const codec = createRequestStateCodec({ key: "a key of at least thirty-two bytes for this test" });

const done = (text: string): CallToolResult => ({ content: [{ type: "text", text }] });

export function ask(inputRequests: Record<string, unknown>, requestState?: string): InputRequiredResult {
  return {
    resultType: "input_required",
    inputRequests: inputRequests as Requests,
    ...(requestState === undefined ? {} : { requestState }),
  } as InputRequiredResult;
}

export function form(message: string, field: string, type = "string") {
  const requestedSchema = { type: "object", properties: { [field]: { type } }, required: [field] };
  return { method: "elicitation/create", params: { message, requestedSchema } };
}

const sampling = (words: string, maxTokens: number) => ({
  method: "sampling/createMessage",
  params: { messages: [{ role: "user", content: { type: "text", text: words } }], maxTokens },
});
const ROOTS = { method: "roots/list", params: {} };

/** What the client's user filled in; `undefined` until it is there and of the right kind. */
function filled(request: ServerContext, key: string, field: string, type = "string"): unknown {
  const content = acceptedContent(request.mcpReq.inputResponses, key) as Record<string, unknown> | undefined;
  const value = content?.[field];
  return typeof value === type ? value : undefined;
}

const hasAll = (request: ServerContext, keys: readonly string[]): boolean =>
  keys.every((key) => request.mcpReq.inputResponses?.[key] !== undefined);

async function state(request: ServerContext): Promise<unknown> {
  const raw = request.mcpReq.requestState<string>();
  if (raw === undefined) return undefined;
  try {
    return await codec.verify(raw, request);
  } catch {
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, "the request state was changed");
  }
}

function capabilitiesOf(request: ServerContext): Record<string, unknown> {
  return ((request.mcpReq.envelope as Record<string, unknown> | undefined)?.[CLIENT_CAPABILITIES_META_KEY] ??
    {}) as Record<string, unknown>;
}

type Question = (request: ServerContext) => Answer | Promise<Answer>;

async function confirm(request: ServerContext): Promise<Answer> {
  const known = await state(request);
  const isConfirmed = known !== undefined && hasAll(request, ["confirm"]);
  return isConfirmed
    ? done("state-ok")
    : ask({ confirm: form("Please confirm", "ok", "boolean") }, await codec.mint({ round: 1 }, request));
}

const QUESTIONS: Readonly<Record<string, Question>> = {
  test_missing_capability: (request) => {
    if (capabilitiesOf(request)["sampling"] === undefined) {
      throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { sampling: {} } });
    }
    return done("the client can sample");
  },
  test_streaming_elicitation: (request) =>
    hasAll(request, ["user_name"]) ? done("thanks") : ask({ user_name: form("What is your name?", "name") }),
  test_input_required_result_elicitation: (request) => {
    const name = filled(request, "user_name", "name");
    return name === undefined ? ask({ user_name: form("What is your name?", "name") }) : done(`Hello, ${name}!`);
  },
  test_input_required_result_sampling: (request) =>
    hasAll(request, ["capital_question"])
      ? done(JSON.stringify(request.mcpReq.inputResponses?.["capital_question"]))
      : ask({ capital_question: sampling("What is the capital of France?", 100) }),
  test_input_required_result_list_roots: (request) =>
    hasAll(request, ["client_roots"])
      ? done(JSON.stringify(request.mcpReq.inputResponses?.["client_roots"]))
      : ask({ client_roots: ROOTS }),
  test_input_required_result_request_state: confirm,
  test_input_required_result_tampered_state: confirm,
  test_input_required_result_multiple_inputs: async (request) =>
    (await state(request)) !== undefined && hasAll(request, ["user_name", "greeting", "client_roots"])
      ? done("all inputs are here")
      : ask(
          {
            user_name: form("What is your name?", "name"),
            greeting: sampling("Generate a greeting", 50),
            client_roots: ROOTS,
          },
          await codec.mint({ round: 1 }, request),
        ),
  test_input_required_result_multi_round: async (request) => {
    const known = (await state(request)) as { name?: unknown } | undefined;
    const color = filled(request, "step2", "color");
    if (known?.name !== undefined && color !== undefined) return done(`${known.name} likes ${color}`);
    const name = filled(request, "step1", "name");
    return known !== undefined && name !== undefined
      ? ask({ step2: form("Step 2: What is your favorite color?", "color") }, await codec.mint({ name }, request))
      : ask({ step1: form("Step 1: What is your name?", "name") }, await codec.mint({ round: 1 }, request));
  },
  test_input_required_result_capabilities: (request) => {
    const { sampling: canSample, elicitation } = capabilitiesOf(request);
    const requests = {
      ...(canSample === undefined ? {} : { question: sampling("Generate a greeting", 50) }),
      ...(elicitation === undefined ? {} : { user_name: form("What is your name?", "name") }),
    };
    const isAnswered = request.mcpReq.inputResponses !== undefined || Object.keys(requests).length === 0;
    return isAnswered ? done("asked what the client can do") : ask(requests);
  },
};

/** Content as it is, and questions where a tool asks. */
export const presentFixture: PresentResult = (tool, result, request) => {
  const question = QUESTIONS[tool];
  if (question !== undefined && result.ok) return question(request);
  if (result.ok && typeof result.value === "object" && result.value !== null && "content" in result.value) {
    return { content: result.value["content"] } as unknown as CallToolResult;
  }
  return undefined;
};
