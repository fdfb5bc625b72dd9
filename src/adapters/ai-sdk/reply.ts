import { printable } from "../../core/index.ts";
import type { ModelReply } from "../../model/index.ts";
import type { Collected } from "./collect.ts";
import { badReply, replyCut } from "./failure.ts";

/** Why a reply ended: in the words of all providers, and in its own provider's. */
export interface AiSdkFinishReason {
  readonly unified: string;
  readonly raw: string | undefined;
}

export function readFinishReason(reason: unknown): AiSdkFinishReason {
  if (typeof reason === "string") {
    // V2, where "unknown" is what a provider says that has heard no reason.
    return { unified: reason, raw: reason === "unknown" ? undefined : reason };
  }
  const { unified, raw } = typeof reason === "object" && reason !== null ? (reason as Record<string, unknown>) : {};
  return { unified: typeof unified === "string" ? unified : "other", raw: typeof raw === "string" ? raw : undefined };
}

/**
 * What a whole reply means to the harness. Calls are taken only from a reply whose provider says that it is complete:
 * several providers hand over half-written arguments as a call when a stream is cut.
 *
 * Throws a `BadReply` for a reply that is not whole.
 */
export function replyOf(collected: Collected, finish: AiSdkFinishReason, replyTokensMax: number): UnpricedReply {
  const { text, calls, providerData } = collected;
  const { unified, raw } = finish;
  switch (unified) {
    case "stop":
    case "tool-calls":
      if (calls.length > 0)
        return { kind: "calls", text, calls, ...(providerData === undefined ? {} : { providerData }) };
      if (text.trim() === "") return unreadable("Your reply was empty. Answer, or use a tool.");
      return { kind: "final", text };
    case "length":
      return unreadable(`Your reply was cut off at ${replyTokensMax} tokens. Reply more briefly.`);
    case "content-filter":
      // A model that declines in words has answered; a reply that somebody took away has not.
      return text.trim() !== "" && (raw === undefined || raw === "stop")
        ? { kind: "final", text }
        : unreadable("The provider withheld your reply. Reply differently.");
    default:
      return unusual(unified, raw);
  }
}

/** A reply without its usage. */
export type UnpricedReply = ModelReply extends infer Reply
  ? Reply extends unknown
    ? Omit<Reply, "usage">
    : never
  : never;

function unusual(unified: string, raw: string | undefined): UnpricedReply {
  if (unified === "interrupted" || raw === undefined) {
    throw unified === "error" ? badReply() : replyCut();
  }
  return unreadable(`The provider could not read your reply (${printable(raw, 60)}). Reply in the agreed format.`);
}

function unreadable(problem: string): UnpricedReply {
  return { kind: "unreadable", problem };
}
