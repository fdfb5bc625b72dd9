/** What only some starts need: loaded together with the first that is more than a run which nobody named, driven at once. */
export { checkStart } from "./check-start.ts";
export { goOn } from "./conversation.ts";
export { givenCalls } from "./given-calls.ts";
export { startRun, writeStart } from "./write-start.ts";
