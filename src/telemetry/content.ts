import type { CallOutcome, JsonValue, ModelOutput, PreparedCall } from "../core/index.ts";

/** Longest attribute value; receivers cut or refuse what is much longer. */
const CHARACTERS_MAX = 16_384;
const LABEL_MAX = 128;

/** What stands for a word that is not one of a small set of names, as the conventions have it for `error.type`. */
const OTHER = "_OTHER";

/**
 * A name or code as an attribute value.
 *
 * Codes and tool names may come from a tool server or from a model, so whatever does not look like one is not shown:
 * a free text there could carry anything out.
 */
export function label(text: string): string {
  return /^[\w.:-]{1,64}$/.test(text) ? text : OTHER;
}

/** A name that the application chose, cut to a bearable length. */
export function shortName(text: string): string {
  return text.toWellFormed().slice(0, LABEL_MAX).toWellFormed();
}

function cappedText(text: string): string {
  return text.length <= CHARACTERS_MAX ? text.toWellFormed() : `${text.slice(0, CHARACTERS_MAX - 1).toWellFormed()}…`;
}

export function contentText(value: JsonValue): string {
  return cappedText(JSON.stringify(value));
}

/** One message with one text, in the form that the conventions give to messages. */
export function textMessage(role: "user" | "assistant", content: string): string {
  return contentText([{ role, parts: [{ type: "text", content }] }]);
}

/** What a model answered, in the form that the conventions give to messages. */
export function outputMessage(output: ModelOutput): string {
  switch (output.kind) {
    case "final":
      return textMessage("assistant", output.text);
    case "unreadable":
      return textMessage("assistant", output.problem);
    case "calls": {
      const text = output.text === "" ? [] : [{ type: "text", content: output.text }];
      return contentText([{ role: "assistant", parts: [...text, ...output.calls.map(callPart)] }]);
    }
  }
}

function callPart({ callId, tool, args }: PreparedCall): JsonValue {
  return { type: "tool_call", id: callId, name: tool, arguments: args };
}

/** What the model was shown of a call's outcome: filtered, and never more than that. */
export function resultText(outcome: CallOutcome): string {
  if (outcome.view !== undefined) {
    return contentText(outcome.view);
  }
  if (outcome.status !== "ok") {
    const { code, message } = outcome.error;
    return contentText({ code, message });
  }
  const { json, blob } = outcome.value;
  return contentText(json ?? (blob === undefined ? null : { sha256: blob.sha256, bytes: blob.bytes }));
}
