import { ANTHROPIC } from "./anthropic.ts";
import type { WireFormat } from "./format.ts";
import { GOOGLE } from "./google.ts";
import { OPENAI_CHAT, OPENAI_COMPATIBLE } from "./openai-chat.ts";
import { OPENAI_RESPONSES } from "./openai-responses.ts";

export const WIRE_FORMATS: readonly WireFormat[] = [
  OPENAI_CHAT,
  OPENAI_COMPATIBLE,
  OPENAI_RESPONSES,
  ANTHROPIC,
  GOOGLE,
];
export { answerOf, asking, CALLS, once, REQUEST, TEXT } from "./ask.ts";
export type { WireFormat, WireReply } from "./format.ts";
export { startWireServer, type WireAnswer, type WireServer } from "./server.ts";
export { ANTHROPIC, GOOGLE, OPENAI_CHAT, OPENAI_COMPATIBLE, OPENAI_RESPONSES };
