import type { ModelClient, ModelReply } from "../../../src/index.ts";

export interface SlowModel extends ModelClient {
  /** Lets the reply that is waited for go through. */
  proceed(): Promise<void>;
  /** Streams a piece of the reply that is waited for. */
  say(text: string): Promise<void>;
}

/** A model that replies when a test lets it. */
export function slowModel(replies: readonly ModelReply[]): SlowModel {
  interface Asked {
    readonly say: (text: string) => void;
    readonly proceed: () => void;
  }
  let asked = Promise.withResolvers<Asked>();
  let next = 0;
  return {
    id: "offline-shop-planner-v1",
    async generate(_request, { onDelta }) {
      const reply = replies[next];
      if (reply === undefined) throw new Error("the slow model has no more replies");
      next += 1;
      await new Promise<void>((resolve) => {
        asked.resolve({ say: (text) => onDelta?.(text), proceed: resolve });
      });
      return reply;
    },
    async proceed() {
      const { proceed } = await asked.promise;
      asked = Promise.withResolvers<Asked>();
      proceed();
    },
    async say(text) {
      (await asked.promise).say(text);
    },
  };
}
