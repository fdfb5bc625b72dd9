/** What is done to a run from outside, mostly by people: loaded together, because many programs need none of it. */
export { decideApproval } from "./answer.ts";
export { cancelRecorded, cancelRun } from "./cancel.ts";
export { sendMessage } from "./message.ts";
export { lookUpOutcome, reconcileCall } from "./reconcile.ts";
