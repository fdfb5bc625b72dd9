import { type AiSdkLanguageModel, type AiSdkOptions, aiSdkModel } from "../adapters/ai-sdk/index.ts";
import { BelayError } from "../errors.ts";
import type { ModelClient } from "../model/index.ts";
import { checkNetwork, fetchOnly, isLoopback } from "./network.ts";
import { usageError } from "./usage.ts";

export interface ResolveModelOptions {
  /** Whether prompts may leave this machine. */
  readonly allowNetwork: boolean;
  readonly env: Readonly<Record<string, string | undefined>>;
}

interface Settings {
  readonly apiKey: string;
  readonly baseURL: string;
  readonly fetch: typeof fetch;
}

interface Provider {
  readonly packageName: string;
  readonly keyVariable: string;
  readonly urlVariable: string;
  readonly url: string;
  readonly options?: Pick<AiSdkOptions, "providerOptions">;
  load(settings: Settings, modelId: string): Promise<AiSdkLanguageModel>;
}

const PROVIDERS: Readonly<Record<string, Provider>> = {
  openai: {
    packageName: "@ai-sdk/openai",
    keyVariable: "OPENAI_API_KEY",
    urlVariable: "OPENAI_BASE_URL",
    url: "https://api.openai.com/v1",
    // Otherwise the conversation is kept at the provider.
    options: { providerOptions: { openai: { store: false } } },
    load: async (settings, modelId) => (await import("@ai-sdk/openai")).createOpenAI(settings)(modelId),
  },
  anthropic: {
    packageName: "@ai-sdk/anthropic",
    keyVariable: "ANTHROPIC_API_KEY",
    urlVariable: "ANTHROPIC_BASE_URL",
    url: "https://api.anthropic.com/v1",
    load: async (settings, modelId) => (await import("@ai-sdk/anthropic")).createAnthropic(settings)(modelId),
  },
  google: {
    packageName: "@ai-sdk/google",
    keyVariable: "GOOGLE_GENERATIVE_AI_API_KEY",
    urlVariable: "GOOGLE_GENERATIVE_AI_BASE_URL",
    url: "https://generativelanguage.googleapis.com/v1beta",
    load: async (settings, modelId) => (await import("@ai-sdk/google")).createGoogleGenerativeAI(settings)(modelId),
  },
};

const COMPATIBLE_PACKAGE = "@ai-sdk/openai-compatible";
const COMPATIBLE_KEY = "BELAY_MODEL_API_KEY";
const BEDROCK_PACKAGE = "@aws-sdk/client-bedrock-runtime";
const FORMS =
  "Give openai:<model>, anthropic:<model>, google:<model>, bedrock:<model>, or the base URL of an OpenAI-compatible " +
  "server with its model, such as http://127.0.0.1:11434/v1#llama3.2.";

/**
 * Makes the model that a text names, and loads its provider's package only then.
 *
 * Throws `BELAY_USAGE` for a text that names none, `BELAY_NETWORK_REFUSED` for one outside this machine without leave,
 * `BELAY_MODEL_AUTH` when a variable of the environment is missing and `BELAY_PEER_MISSING` when the package is.
 */
export async function resolveModel(spec: string, options: ResolveModelOptions): Promise<ModelClient> {
  if (/^https?:/i.test(spec)) return await compatibleModel(spec, options);
  const [, name = "", modelId = ""] = /^([a-z]+):(\S{1,200})$/.exec(spec) ?? [];
  if (name === "bedrock") return await bedrock(spec, modelId, options);
  const provider = Object.hasOwn(PROVIDERS, name) ? PROVIDERS[name] : undefined;
  if (provider === undefined) {
    throw usageError(`--model is ${JSON.stringify(spec)}, which names no model. ${FORMS}`);
  }
  const { env, allowNetwork } = options;
  const url = parseUrl(env[provider.urlVariable] || provider.url, `the variable ${provider.urlVariable}`);
  checkNetwork(url, `The model ${spec}`, allowNetwork);
  const apiKey = env[provider.keyVariable];
  if (!apiKey) throw variableMissing(spec, provider.keyVariable);
  checkKeyIsSafe(url, provider.keyVariable);
  const settings = { apiKey, baseURL: textOf(url), fetch: fetchOnly(url.origin) };
  const model = await loading(spec, provider.packageName, () => provider.load(settings, modelId));
  return aiSdkModel(model, { id: spec, ...provider.options });
}

async function compatibleModel(spec: string, { env, allowNetwork }: ResolveModelOptions): Promise<ModelClient> {
  const url = parseUrl(spec, "--model");
  const modelId = decodeURIComponent(url.hash.slice(1));
  if (modelId === "") {
    throw usageError(`--model is a base URL without a model. Add #<model>, such as ${textOf(url)}#llama3.2.`);
  }
  url.hash = "";
  checkNetwork(url, `The model ${modelId}`, allowNetwork);
  const apiKey = env[COMPATIBLE_KEY];
  if (apiKey) checkKeyIsSafe(url, COMPATIBLE_KEY);
  const model = await loading(spec, COMPATIBLE_PACKAGE, async () => {
    const { createOpenAICompatible } = await import("@ai-sdk/openai-compatible");
    const provider = createOpenAICompatible({
      name: "openai-compatible",
      baseURL: textOf(url),
      fetch: fetchOnly(url.origin),
      // Such servers count tokens of a stream only when they are asked to.
      includeUsage: true,
      ...(apiKey && { apiKey }),
    });
    return provider(modelId);
  });
  return aiSdkModel(model, { id: `${textOf(url)}#${modelId}` });
}

async function bedrock(
  spec: string,
  modelId: string,
  { env, allowNetwork }: ResolveModelOptions,
): Promise<ModelClient> {
  const region = env["AWS_REGION"] || env["AWS_DEFAULT_REGION"];
  if (!region) throw variableMissing(spec, "AWS_REGION");
  const host = `bedrock-runtime.${region}.amazonaws.com`;
  checkNetwork(parseUrl(`https://${host}`, "the variable AWS_REGION"), `The model ${spec}`, allowNetwork);
  return await loading(spec, BEDROCK_PACKAGE, async () => {
    const { bedrockModel } = await import("../adapters/bedrock/index.ts");
    // Whoever names the model and allows the network has said that it is to be asked.
    return bedrockModel({ modelId, region, mode: "live", confirmSpend: true });
  });
}

function parseUrl(text: string, where: string): URL {
  const url = URL.canParse(text) ? new URL(text) : undefined;
  if (url === undefined || !/^https?:$/.test(url.protocol) || url.hostname === "") {
    throw usageError(`${where} is no URL that a model can be at. ${FORMS}`);
  }
  if (url.username !== "" || url.password !== "" || url.search !== "") {
    throw usageError(`${where} is a URL with a password or a query in it. Put a key into ${COMPATIBLE_KEY} instead.`);
  }
  return url;
}

function textOf(url: URL): string {
  return `${url.origin}${url.pathname}`.replace(/\/+$/, "");
}

function checkKeyIsSafe(url: URL, variable: string): void {
  if (url.protocol === "http:" && !isLoopback(url)) {
    throw new BelayError(
      "BELAY_NETWORK_REFUSED",
      `The key of ${variable} would go to ${url.host} in clear text. Use an https URL, or unset ${variable}.`,
    );
  }
}

function variableMissing(spec: string, variable: string): BelayError {
  return new BelayError(
    "BELAY_MODEL_AUTH",
    `The model ${spec} needs the environment variable ${variable}, which is not set. Set it, or leave out --model.`,
  );
}

async function loading<Value>(spec: string, packageName: string, load: () => Promise<Value>): Promise<Value> {
  try {
    return await load();
  } catch (cause) {
    const code = cause instanceof Error && "code" in cause ? cause.code : undefined;
    if (code === "ERR_MODULE_NOT_FOUND" && String(cause).includes(packageName)) {
      throw new BelayError(
        "BELAY_PEER_MISSING",
        `The model ${spec} needs the package ${packageName}, which is not installed. Run: npm install ${packageName}`,
        { cause },
      );
    }
    throw cause;
  }
}
