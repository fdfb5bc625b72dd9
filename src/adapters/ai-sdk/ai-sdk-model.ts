import type {
  LanguageModelV2,
  LanguageModelV3,
  LanguageModelV4,
  LanguageModelV4CallOptions,
  SharedV4ProviderOptions,
} from "@ai-sdk/provider";
import { systemClock } from "../../clock.ts";
import { printable } from "../../core/index.ts";
import { BelayError } from "../../errors.ts";
import type { ModelClient } from "../../model/index.ts";
import { nextDelayMs, type RetryOptions, type RetryPlan, retryPlan, waitOrAbort } from "../../retry/index.ts";
import { callOptions } from "./call-options.ts";
import { type Collected, generateOnce, type Progress, streamOnce } from "./collect.ts";
import { failureError, readFailure } from "./failure.ts";
import { type AiSdkFinishReason, readFinishReason, replyOf, type UnpricedReply } from "./reply.ts";
import { type AiSdkUsage, readUsage } from "./usage.ts";

/** Any language model of an AI SDK provider. */
export type AiSdkLanguageModel = LanguageModelV2 | LanguageModelV3 | LanguageModelV4;

/** What is known of one reply beside its content. */
export interface AiSdkReport {
  readonly usage: AiSdkUsage;
  readonly finishReason: AiSdkFinishReason;
  readonly attempts: number;
}

export interface AiSdkOptions {
  /** Name by which the price table knows it. Default the model's own id. */
  readonly id?: string;
  /** Handed to the provider as it is, such as `{ anthropic: { … } }`. */
  readonly providerOptions?: SharedV4ProviderOptions;
  readonly retry?: RetryOptions;
  /** Told of each reply; what it throws is ignored. */
  readonly onReport?: (report: AiSdkReport) => void;
}

const VERSIONS: readonly unknown[] = ["v2", "v3", "v4"] satisfies AiSdkLanguageModel["specificationVersion"][];

/**
 * A model of any AI SDK provider, asked directly and without the SDK's own loop.
 *
 * Streams when somebody listens for pieces of the text. Calls of one reply keep their order, and their arguments stay
 * text, which the harness parses strictly. Cached input counts as input. A reply that was cut at its token limit or
 * withheld is `unreadable`; a model that declines in words has answered. Throttling, failures of the provider and of the
 * network are tried again within bounds, as long as nothing of the answer has arrived.
 *
 * Throws `BELAY_MODEL_INVALID` for a string, which would go to a hosted gateway, and for anything else that is no model.
 * `generate` throws `BELAY_MODEL_AUTH`, `BELAY_MODEL_THROTTLED`, `BELAY_MODEL_UNAVAILABLE`, `BELAY_MODEL_REFUSED` or
 * `BELAY_MODEL_BAD_REPLY`, whose messages have names and numbers only, and the reason of its signal when that aborts.
 */
export function aiSdkModel(languageModel: AiSdkLanguageModel, options: AiSdkOptions = {}): ModelClient {
  const model = checkedModel(languageModel);
  const plan = retryPlan(options.retry);
  const id = options.id ?? model.modelId;
  return {
    id,
    generate: async (request, { signal, onDelta }) => {
      signal.throwIfAborted();
      const call = callOptions(request, signal, options.providerOptions);
      const asked = await ask({ id, model, call, plan, signal, onDelta, replyTokensMax: request.replyTokensMax });
      const usage = readUsage(asked.usage, model.provider);
      quietly(options.onReport, { usage, finishReason: asked.finishReason, attempts: asked.attempts });
      return { ...asked.reply, usage };
    },
  };
}

function checkedModel(given: unknown): LanguageModelV4 {
  if (typeof given === "string") {
    throw new BelayError(
      "BELAY_MODEL_INVALID",
      `"${printable(given)}" is only the name of a model, and the AI SDK sends names to a hosted gateway. Pass a model ` +
        'of a provider package, such as openai("…") of @ai-sdk/openai.',
    );
  }
  const model = given as Partial<LanguageModelV4> | null | undefined;
  if (
    !VERSIONS.includes(model?.specificationVersion) ||
    typeof model?.doGenerate !== "function" ||
    typeof model.doStream !== "function"
  ) {
    throw new BelayError(
      "BELAY_MODEL_INVALID",
      `This is no language model of specification v2, v3 or v4 (specificationVersion is ` +
        `${printable(String(model?.specificationVersion), 40)}). Pass a model of an AI SDK provider package.`,
    );
  }
  // The parts that are used are the same in all versions, or told apart where they are read.
  return model as LanguageModelV4;
}

interface Question {
  readonly id: string;
  readonly model: LanguageModelV4;
  readonly call: LanguageModelV4CallOptions;
  readonly plan: RetryPlan;
  readonly signal: AbortSignal;
  readonly onDelta: ((text: string) => void) | undefined;
  readonly replyTokensMax: number;
}

interface Asked {
  readonly reply: UnpricedReply;
  readonly finishReason: AiSdkFinishReason;
  readonly usage: unknown;
  readonly attempts: number;
}

async function ask(question: Question): Promise<Asked> {
  const { id, plan, signal, replyTokensMax } = question;
  for (let attempts = 1; ; attempts += 1) {
    const progress: Progress = { hasBegun: false };
    try {
      const collected = await attempt(question, progress);
      const finishReason = readFinishReason(collected.finishReason);
      const reply = replyOf(collected, finishReason, replyTokensMax);
      return { reply, finishReason, usage: collected.usage, attempts };
    } catch (error) {
      // The reason of whoever aborted, and not the provider's words for it.
      signal.throwIfAborted();
      const failure = readFailure(error, systemClock.now());
      const delayMs = progress.hasBegun ? undefined : nextDelayMs(plan, failure, attempts);
      if (delayMs === undefined) throw failureError(id, failure, attempts);
      await waitOrAbort(plan, delayMs, signal);
    }
  }
}

/** One attempt, given up when the signal aborts even if the model does not listen to it. */
function attempt({ model, call, signal, onDelta }: Question, progress: Progress): Promise<Collected> {
  return new Promise((resolve, reject) => {
    const onAbort = (): void => reject(signal.reason);
    signal.addEventListener("abort", onAbort, { once: true });
    const pass = (text: string): void => {
      if (!signal.aborted) quietly(onDelta, text);
    };
    const collecting = onDelta === undefined ? generateOnce(model, call) : streamOnce(model, call, pass, progress);
    collecting.then(resolve, reject).finally(() => signal.removeEventListener("abort", onAbort));
  });
}

/** A listener that fails must not change what happens to a call. */
function quietly<Value>(listener: ((value: Value) => void) | undefined, value: Value): void {
  try {
    listener?.(value);
  } catch {
    // There is nobody left to tell.
  }
}
