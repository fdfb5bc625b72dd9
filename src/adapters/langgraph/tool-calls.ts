import { type AIMessage, type BaseMessage, isAIMessage, isToolMessage } from "@langchain/core/messages";
import { BelayError } from "../../errors.ts";
import type { RequestedCall } from "../../model/index.ts";

/** What a tool node is given: a list of messages, a state that holds one, or one call sent to it. */
export type ToolNodeInput = readonly BaseMessage[] | { readonly messages: readonly BaseMessage[] } | SentCall;

interface SentCall {
  readonly lg_tool_call: GraphCall;
  readonly messages?: readonly BaseMessage[];
}

interface GraphCall {
  readonly id?: string;
  readonly name: string;
  readonly args: unknown;
}

export interface OpenCalls {
  /** Names the turn within its thread: stable while the node is run again, different for every other turn. */
  readonly turn: string;
  readonly calls: readonly (RequestedCall & { readonly id: string })[];
}

/** The calls that have no result yet, malformed ones included. Throws `BELAY_INPUT_INVALID` for any other input. */
export function openCalls(input: ToolNodeInput): OpenCalls {
  if ("lg_tool_call" in input) {
    const call = input.lg_tool_call;
    return { turn: `call ${lastTurn(input.messages ?? [])?.turn ?? ""} ${call.id ?? ""}`, calls: [parsed(call)] };
  }
  const messages = "messages" in input ? input.messages : input;
  const last = lastTurn(messages);
  if (last === undefined) {
    throw new BelayError(
      "BELAY_INPUT_INVALID",
      "A tool node needs a message of the model among its messages. Lead to it only from the model's node.",
    );
  }
  // Only what follows the message: a model may give the calls of two turns the same id.
  const after = messages.slice(last.place + 1).filter((message) => isToolMessage(message));
  const answered = new Set(after.map((message) => message.tool_call_id));
  const isOpen = ({ id }: { readonly id: string }): boolean => id === "" || !answered.has(id);
  const { tool_calls: calls = [], invalid_tool_calls: malformed = [] } = last.message;
  return {
    turn: last.turn,
    calls: [
      ...calls.map(parsed),
      // Their text is read once more and refused with what is wrong, so that the model hears of it.
      ...malformed.map(({ id = "", name = "", args = "" }) => ({ id, tool: name, args: { text: args } })),
    ].filter(isOpen),
  };
}

function lastTurn(
  messages: readonly BaseMessage[],
): { readonly message: AIMessage; readonly place: number; readonly turn: string } | undefined {
  const place = messages.findLastIndex((message) => isAIMessage(message));
  const message = messages[place] as AIMessage | undefined;
  return message === undefined ? undefined : { message, place, turn: message.id ?? `message ${place}` };
}

function parsed({ id = "", name, args }: GraphCall): RequestedCall & { readonly id: string } {
  return { id, tool: name, args: { json: args } };
}
