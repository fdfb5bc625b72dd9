import { BelayError } from "../errors.ts";
import {
  KNOWN_PRICES,
  type Price,
  type PriceTable,
  priceFeedUrl,
  readPriceFeed,
  UNPRICED_MODELS,
} from "../model/index.ts";
import { type Command, type CommandInput, hasFlag, JSON_OPTION, textOption } from "./command.ts";
import { usageError } from "./usage.ts";

const FEED_BYTES_MAX = 64 * 1024 * 1024;
const FEED_TIMEOUT_MS = 120_000;

export type FetchFeed = (url: string, options: { readonly signal: AbortSignal }) => Promise<Response>;

export const pricesShowCommand: Command = {
  name: "prices show",
  summary: "print the prices that Belay knows, and the models whose cost is unknown",
  positionals: [{ name: "model", isOptional: true }],
  options: { ...JSON_OPTION },
  examples: ["prices show", "prices show amazon.nova-lite-v1:0 --json"],
  run: async (input) => {
    const [modelId] = input.positionals;
    const models = modelId === undefined ? [...Object.keys(KNOWN_PRICES), ...UNPRICED_MODELS] : [modelId];
    printPrices(input, models, KNOWN_PRICES);
    return 0;
  },
};

/** Makes the command that reads the public price list; nothing else of Belay asks for it. */
export function createPricesFetch(fetchFeed: FetchFeed): Command {
  return {
    name: "prices fetch",
    summary: "read today's prices from the public AWS price list",
    positionals: [],
    options: {
      region: { type: "string", value: "region", help: "AWS region whose prices are meant (default us-east-1)" },
      ...JSON_OPTION,
    },
    examples: ["prices fetch", "prices fetch --region eu-central-1 --json"],
    run: async (input) => {
      const region = textOption(input, "region") ?? "us-east-1";
      if (!/^[a-z]{2,8}(?:-[a-z]{2,12}){1,3}-[0-9]{1,2}$/.test(region)) {
        throw usageError(`--region is ${JSON.stringify(region)}. Give an AWS region such as us-east-1.`);
      }
      const url = priceFeedUrl(region);
      input.output.progress(`Reading ${url}`);
      const prices = readPriceFeed(await readFeed(fetchFeed, url, input.signal));
      printPrices(input, Object.keys(prices), prices);
      return 0;
    },
  };
}

export const pricesFetchCommand: Command = createPricesFetch(fetch);

function printPrices(input: CommandInput, models: readonly string[], prices: PriceTable): void {
  const found = models.map((modelId) => [modelId, priceOf(prices, modelId)] as const);
  if (hasFlag(input, "json")) {
    input.output.json(Object.fromEntries(found.map(([modelId, price]) => [modelId, price ?? null])), 2);
    return;
  }
  const width = Math.max(...models.map((modelId) => modelId.length));
  for (const [modelId, price] of found) {
    input.output.line(modelId.padEnd(width), "  ", price === undefined ? "cost unknown" : shown(price));
  }
}

function shown({
  inputUsdPerMillion,
  outputUsdPerMillion,
  cacheReadUsdPerMillion,
  cacheWriteUsdPerMillion,
}: Price): string {
  const parts = [`$${inputUsdPerMillion} in`, `$${outputUsdPerMillion} out`];
  if (cacheReadUsdPerMillion !== undefined) parts.push(`$${cacheReadUsdPerMillion} read from its cache`);
  if (cacheWriteUsdPerMillion !== undefined) parts.push(`$${cacheWriteUsdPerMillion} written to it`);
  return `${parts.join(", ")}, per million tokens`;
}

function priceOf(prices: PriceTable, modelId: string) {
  return Object.hasOwn(prices, modelId) ? prices[modelId] : undefined;
}

async function readFeed(fetchFeed: FetchFeed, url: string, signal: AbortSignal): Promise<unknown> {
  const bounded = AbortSignal.any([signal, AbortSignal.timeout(FEED_TIMEOUT_MS)]);
  try {
    const response = await fetchFeed(url, { signal: bounded });
    if (!response.ok) {
      throw feedError(url, `answered with HTTP ${response.status}`);
    }
    return JSON.parse(await boundedText(response, url));
  } catch (error) {
    if (error instanceof BelayError) {
      throw error;
    }
    const what = bounded.aborted ? "was not read in time" : "could not be read";
    throw feedError(url, error instanceof SyntaxError ? "is not JSON" : what);
  }
}

async function boundedText(response: Response, url: string): Promise<string> {
  const decoder = new TextDecoder();
  let text = "";
  let bytes = 0;
  for await (const chunk of response.body ?? []) {
    bytes += chunk.byteLength;
    if (bytes > FEED_BYTES_MAX) {
      throw feedError(url, `is larger than ${FEED_BYTES_MAX} bytes`);
    }
    text += decoder.decode(chunk, { stream: true });
  }
  return text + decoder.decode();
}

function feedError(url: string, problem: string): BelayError {
  return new BelayError(
    "BELAY_PRICE_FEED",
    `The price list ${url} ${problem}. Check the region and the connection, or state the price with ` +
      "AGENT_PRICE_INPUT_PER_1K and AGENT_PRICE_OUTPUT_PER_1K.",
  );
}
