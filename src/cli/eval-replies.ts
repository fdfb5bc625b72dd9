import type { AnyApp } from "../config.ts";
import { BelayError } from "../errors.ts";
import { recordingModel, replayModel } from "../evals/index.ts";
import type { ModelClient } from "../model/index.ts";
import { type CommandInput, hasFlag, type OptionSpec, textOption } from "./command.ts";
import { usageError } from "./usage.ts";

export const REPLY_OPTIONS: Readonly<Record<"record" | "replay" | "strict", OptionSpec>> = {
  record: { type: "string", value: "folder", help: "keep each reply of the model there, by the hash of its request" },
  replay: {
    type: "string",
    value: "folder",
    help: "answer with the replies kept there; what is new is asked and kept",
  },
  strict: { type: "boolean", help: "with --replay: what was not kept is never asked, and fails" },
};

/** An app whose model is recorded or replayed, and what a strict replay missed. */
export interface RepliesApp {
  readonly app: AnyApp;
  /** A sentence for each different request that had no reply, so far. */
  problems(): readonly string[];
}

/** Whether the replies alone answer: then no model is asked, and none is needed. */
export function isStrictReplay(input: CommandInput): boolean {
  return hasFlag(input, "strict") && textOption(input, "replay") !== undefined;
}

/**
 * Puts recording or replay before an app's model, as the options say. Scripted cases ask no model and need no replies.
 *
 * Throws `BELAY_USAGE` for options that do not go together, and what `replayModel` throws.
 */
export function withReplies(input: CommandInput, app: AnyApp): RepliesApp {
  const [record, replay] = [textOption(input, "record"), textOption(input, "replay")];
  if (record !== undefined && replay !== undefined) {
    throw usageError("--record and --replay are two ways to run. Give one; a replay that is not strict records too.");
  }
  if (hasFlag(input, "strict") && replay === undefined) {
    throw usageError("--strict is about replies that were kept. Give --replay with their folder.");
  }
  if (record !== undefined) {
    return { app: withModel(app, (model) => recordingModel(model(), record)), problems: () => [] };
  }
  if (replay === undefined) {
    return { app, problems: () => [] };
  }
  if (!hasFlag(input, "strict")) {
    return {
      app: withModel(app, (model) => replayModel(replay, { strict: false, fallback: model() })),
      problems: () => [],
    };
  }
  const missed = new Set<string>();
  const strict = noting(replayModel(replay), missed);
  return { app: withModel(app, () => strict), problems: () => [...missed] };
}

function withModel(app: AnyApp, wrap: (own: () => ModelClient) => ModelClient): AnyApp {
  return { ...app, offlineModel: (world) => wrap(() => app.offlineModel(world)) };
}

/** A case may expect its model to fail, and would then pass for want of a reply. */
function noting(model: ModelClient, missed: Set<string>): ModelClient {
  return {
    id: model.id,
    generate: async (request, options) => {
      try {
        return await model.generate(request, options);
      } catch (error) {
        if (error instanceof BelayError && error.code.startsWith("BELAY_RECORDING_")) {
          missed.add(error.message);
        }
        throw error;
      }
    },
  };
}
