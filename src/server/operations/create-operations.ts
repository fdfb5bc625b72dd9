import { BelayError } from "../../errors.ts";
import type { OperationContext } from "./context.ts";
import { decide } from "./decide.ts";
import type { Operations } from "./operation.ts";
import { checkMay, isAgent, may, principalOf } from "./permission.ts";
import { quorumOf } from "./quorum.ts";
import { reconcile } from "./reconcile.ts";
import { appOfRun, isOwn, visibleRun } from "./run-access.ts";
import { sendMessage } from "./send-message.ts";
import { startRun } from "./start-run.ts";

/** Creates what people do on a server. */
export function createOperations(context: OperationContext): Operations {
  return {
    may,
    startRun: (by, request) => startRun(context, by, request),
    sendMessage: (by, request) => sendMessage(context, by, request),
    decide: (by, request) => decide(context, by, request),
    reconcile: (by, request) => reconcile(context, by, request),
    quorum: (by, approval) => quorumOf(context, by, approval),
    async cancel(by, runId, reason) {
      checkMay(by, "operate");
      const row = await visibleRun(context, by, runId);
      if (isAgent(by) && !isOwn(by, row)) {
        throw new BelayError("BELAY_NOT_PERMITTED", "a program cancels only runs that it started");
      }
      const { tenant } = by;
      const outcome = await appOfRun(context, row).harness.cancel({ tenant, runId }, principalOf(by), reason);
      if (outcome === "unknown_run") throw new BelayError("BELAY_RUN_UNKNOWN", "there is no such run here");
      return outcome;
    },
  };
}
