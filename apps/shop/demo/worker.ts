import { sendReport } from "./child.ts";
import { createPrinter } from "./printer.ts";
import { createStage, openDesk, tellMessage } from "./stage.ts";

/** What the worker says when its run waits for a person. */
export interface WorkerReport {
  readonly status: string;
  readonly runId: string;
  readonly approvalIds: readonly string[];
}

/**
 * The process that will be killed: it takes a message, reports where the run stands, and stays alive with store, world
 * and harness open, as a worker of a real desk would.
 */
const [folder = "", customerId = "", text = ""] = process.argv.slice(2);
const stage = createStage(folder, createPrinter(process.stdout));
const desk = await openDesk(stage);
const result = await tellMessage(stage, desk, { customerId, text });
const report: WorkerReport = {
  status: result.status,
  runId: result.runId,
  approvalIds: result.approvals.map(({ approvalId }) => approvalId),
};
// Nobody is left to kill it when the demonstration itself is gone.
process.once("disconnect", () => process.exit(1));
setInterval(() => undefined, 60_000);
await sendReport(report);
