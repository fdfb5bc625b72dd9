import { BedrockRuntimeClient, ConverseCommand, type ConverseCommandInput } from "@aws-sdk/client-bedrock-runtime";
import { systemClock } from "../../clock.ts";
import { printable } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { ModelClient } from "../../model/index.ts";
import { nextDelayMs, type RetryOptions, type RetryPlan, retryPlan, waitOrAbort } from "../../retry/index.ts";
import { type CachePoints, cachePointsOf } from "./cache-points.ts";
import { readReply } from "./converse-reply.ts";
import { converseRequest } from "./converse-request.ts";
import { failureError, readFailure } from "./failure.ts";

export interface BedrockOptions {
  /** A model or an inference profile; also the name by which the price table knows it. */
  readonly modelId: string;
  /** Must be `"live"`: each call leaves this machine. */
  readonly mode: string;
  /** Must be `true`: each call costs money. */
  readonly confirmSpend: boolean;
  /** Needed unless a client is given. */
  readonly region?: string;
  /** Default a client of the region, with the credentials that the SDK finds. Retries of its own come on top. */
  readonly client?: Pick<BedrockRuntimeClient, "send">;
  /** Default what the model's family is known to take. */
  readonly cachePoints?: CachePoints;
  readonly retry?: RetryOptions;
}

/**
 * A model on Amazon Bedrock, over the Converse API.
 *
 * Replies come in one piece. A reply that was cut or withheld is `unreadable`. Usage is the service's own, with cached
 * input counted as input. Throttling, failures of the service and of the network are tried again within bounds.
 *
 * Throws `BELAY_LIVE_NOT_CONFIRMED` unless `mode` is `"live"` and `confirmSpend` is `true`, before anything is sent, and
 * `BELAY_MODEL_INVALID` for other bad options. `generate` throws the reason of its signal when that aborts, and else
 * `BELAY_MODEL_AUTH`, `_BAD_REPLY`, `_REFUSED`, `_THROTTLED` or `_UNAVAILABLE`, whose messages have names and numbers
 * only.
 */
export function bedrockModel(options: BedrockOptions): ModelClient {
  const { modelId, cachePoints = cachePointsOf(modelId) } = options;
  checkConfirmed(options);
  const plan = retryPlan(options.retry);
  const client = options.client ?? createClient(options);
  return {
    id: modelId,
    generate: async (request, { signal, onDelta }) => {
      signal.throwIfAborted();
      const input = converseRequest(modelId, request, cachePoints);
      const { answer, attempts } = await converse(client, input, plan, signal);
      const reply = readReply(answer, request.replyTokensMax);
      if (reply === undefined) {
        throw failureError(modelId, { name: "UnreadableAnswer", isRetryable: false }, attempts);
      }
      if (reply.kind !== "unreadable" && reply.text !== "") {
        onDelta?.(reply.text);
      }
      return reply;
    },
  };
}

function checkConfirmed({ modelId, mode, confirmSpend }: BedrockOptions): void {
  if (typeof modelId !== "string" || modelId.trim() === "") {
    throw new BelayError("BELAY_MODEL_INVALID", "The Bedrock model has no modelId. Give one, or an inference profile.");
  }
  // Compared exactly: what comes from an environment may be the text "false".
  if (mode !== "live" || confirmSpend !== true) {
    const shown = `mode ${JSON.stringify(printable(String(mode)))} and confirmSpend ${printable(String(confirmSpend))}`;
    throw new BelayError(
      "BELAY_LIVE_NOT_CONFIRMED",
      `The Bedrock model "${printable(modelId)}" costs money and was asked for with ${shown}. ` +
        'Set mode to "live" and confirmSpend to true to allow it.',
    );
  }
}

function createClient({ modelId, region }: BedrockOptions): BedrockRuntimeClient {
  if (typeof region !== "string" || !/^[a-z0-9-]{1,40}$/.test(region)) {
    throw new BelayError(
      "BELAY_MODEL_INVALID",
      `The Bedrock model "${printable(modelId)}" has the region ${JSON.stringify(printable(String(region)))}. ` +
        "Give an AWS region such as us-east-1, or a client.",
    );
  }
  // Attempts are counted here and not twice.
  return new BedrockRuntimeClient({ region, maxAttempts: 1 });
}

interface Conversed {
  readonly answer: unknown;
  readonly attempts: number;
}

async function converse(
  client: Pick<BedrockRuntimeClient, "send">,
  input: ConverseCommandInput,
  plan: RetryPlan,
  signal: AbortSignal,
): Promise<Conversed> {
  for (let attempts = 1; ; attempts += 1) {
    try {
      return { answer: await client.send(new ConverseCommand(input), { abortSignal: signal }), attempts };
    } catch (error) {
      // The reason of whoever aborted, and not the SDK's words for it.
      signal.throwIfAborted();
      const failure = readFailure(error, systemClock.now());
      const delayMs = nextDelayMs(plan, failure, attempts);
      if (delayMs === undefined) {
        throw failureError(input.modelId ?? "", failure, attempts);
      }
      await waitOrAbort(plan, delayMs, signal);
    }
  }
}
