/** What only some starts need: loaded together with the first that is more than a new conversation. */
export { goOn } from "./conversation.ts";
export { givenCalls } from "./given-calls.ts";
export { checkSameStart } from "./same-start.ts";
