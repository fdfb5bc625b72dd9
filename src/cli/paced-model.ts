import { setTimeout as pause } from "node:timers/promises";
import type { ModelClient } from "../model/index.ts";

const PIECE = /\s*\S+/g;
const PAUSE_MS = 40;
/** However long an answer is, nobody waits longer for it. */
const PAUSES_MS_MAX = 1500;

/** An offline model that writes its answers word by word, as others do, for as long as `isPaced` says so. */
export function pacedModel(model: ModelClient, isPaced: () => boolean): ModelClient {
  return {
    id: model.id,
    async generate(request, options) {
      const { onDelta, signal } = options;
      if (onDelta === undefined || !isPaced()) return model.generate(request, options);
      const reply = await model.generate(request, { signal });
      if (reply.kind === "unreadable") return reply;
      const pieces = reply.text.match(PIECE) ?? [];
      const pauseMs = Math.min(PAUSE_MS, PAUSES_MS_MAX / Math.max(1, pieces.length));
      for (const piece of pieces) {
        onDelta(piece);
        await pause(pauseMs, undefined, { signal });
      }
      return reply;
    },
  };
}
