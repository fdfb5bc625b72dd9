import type { Agent } from "../engine/index.ts";
import { BelayError } from "../errors.ts";
import { KNOWN_PRICES, type ModelClient, type Price, type PriceTable } from "../model/index.ts";
import { type CommandInput, hasFlag, type OptionSpec, textOption } from "./command.ts";
import { resolveModel } from "./model-spec.ts";
import { usageError } from "./usage.ts";

/** A real model in the place of the app's offline one. */
export interface ChosenModel {
  readonly client: ModelClient;
  /** Beside the prices of the app. */
  readonly prices: PriceTable;
}

const PRICE_OPTIONS = ["price-input", "price-output", "price-cache-read", "price-cache-write"] as const;

type ModelOption = "model" | "allow-network" | (typeof PRICE_OPTIONS)[number];

/** In the place of a model: the app's own, said on purpose. */
export const OFFLINE = "offline";

export const MODEL_OPTIONS: Readonly<Record<ModelOption, OptionSpec>> = {
  model: {
    type: "string",
    value: "model",
    help: "model to ask (openai:…, anthropic:…, google:…, bedrock:…, url#model; offline: the app's own)",
  },
  "allow-network": { type: "boolean", help: "let prompts go to a model outside this machine" },
  "price-input": { type: "string", value: "usd", help: "price of a million input tokens of the model" },
  "price-output": { type: "string", value: "usd", help: "price of a million output tokens of the model" },
  "price-cache-read": {
    type: "string",
    value: "usd",
    help: "of a million tokens read from its cache (default: input)",
  },
  "price-cache-write": { type: "string", value: "usd", help: "of a million tokens written to it (default: input)" },
};

export const OTHER_MODEL_OPTION: Readonly<Record<"allow-other-model", OptionSpec>> = {
  "allow-other-model": { type: "boolean", help: "go on also with runs that have asked another model" },
};

/** Whether a process that serves many runs may go on with one under another model than it has asked. */
export function allowsOtherModel(input: CommandInput): boolean {
  return hasFlag(input, "allow-other-model");
}

/** The model that a command was told to ask; nothing when it was not told. */
export async function chosenModel(input: CommandInput): Promise<ChosenModel | undefined> {
  const spec = textOption(input, "model");
  if (spec === undefined || spec === OFFLINE) {
    const other = (["allow-network", ...PRICE_OPTIONS] as const).find((name) => input.options[name]);
    if (other !== undefined) throw usageError(`--${other} is of no use without a --model that is asked.`);
    return undefined;
  }
  const price = priceOf(input);
  const client = await resolveModel(spec, { allowNetwork: hasFlag(input, "allow-network"), env: process.env });
  return { client, prices: price === undefined ? KNOWN_PRICES : { ...KNOWN_PRICES, [client.id]: price } };
}

/** Throws `BELAY_PRICE_UNKNOWN` for a model whose cost an agent with a cost limit could not tell. */
export function checkPriced(
  modelId: string,
  prices: PriceTable,
  { name, limits }: Pick<Agent, "name" | "limits">,
): void {
  if (limits?.costUsdMax !== undefined && !Object.hasOwn(prices, modelId)) {
    throw new BelayError(
      "BELAY_PRICE_UNKNOWN",
      `The agent ${name} may spend ${limits.costUsdMax} US dollars a run, and the price of the model ${modelId} is not ` +
        "known. Pass --price-input and --price-output in US dollars per million tokens (0 for a model of your own).",
    );
  }
}

function priceOf(input: CommandInput): Price | undefined {
  const [inputUsd, outputUsd, cacheReadUsd, cacheWriteUsd] = PRICE_OPTIONS.map((name) => textOption(input, name));
  if (PRICE_OPTIONS.every((name) => textOption(input, name) === undefined)) return undefined;
  return {
    inputUsdPerMillion: dollars("price-input", inputUsd),
    outputUsdPerMillion: dollars("price-output", outputUsd),
    ...(cacheReadUsd !== undefined && { cacheReadUsdPerMillion: dollars("price-cache-read", cacheReadUsd) }),
    ...(cacheWriteUsd !== undefined && { cacheWriteUsdPerMillion: dollars("price-cache-write", cacheWriteUsd) }),
  };
}

function dollars(name: string, text: string | undefined): number {
  if (text === undefined) throw usageError(`--${name} is missing. Give the prices of input and output, or none.`);
  if (!/^[0-9]{1,6}(?:\.[0-9]{1,9})?$/.test(text)) {
    throw usageError(`--${name} is ${JSON.stringify(text)}. Give US dollars per million tokens, such as 2.50.`);
  }
  return Number(text);
}
