import type { ApproverReport } from "./approver.ts";
import { type Child, killHard, startChild } from "./child.ts";
import { claim, claimEqual } from "./claim.ts";
import { SMALL_REFUND } from "./customer-steps.ts";
import type { Step } from "./run-steps.ts";
import { type Stage, withDesk } from "./stage.ts";
import type { WorkerReport } from "./worker.ts";
import { readWorldFacts } from "./world-facts.ts";

const CUSTOMER = "C-05";
const MESSAGE = "The pressure cooker leaks. Please refund Rs 4,000 for order O-1005.";
const LARGE_REFUND = { orderId: "O-1005", amountPaise: 400_000 };

export const approvalStep: Step = {
  title: "A refund of Rs 4,000 waits for a person, outlives its process, and happens once",
  run: async (stage) => {
    const { printer } = stage;
    const worker = startChild<WorkerReport>("worker.ts", [stage.folder, CUSTOMER, MESSAGE]);
    printer.line("process", `${worker.pid} takes the message`);
    const approvalId = await waitingApproval(stage, worker);
    await killHard(worker);
    printer.line("process", `${worker.pid} is killed with SIGKILL; no code of it could run any more`);
    claimEqual("refunds before the approval", refundsOf(stage), []);
    await claimPending(stage, approvalId);
    printer.line("checked", "the shop's database: nothing paid yet; the store: one question, still open");

    const approver = startChild<ApproverReport>("approver.ts", [stage.folder, approvalId]);
    claim(approver.pid !== worker.pid && approver.pid !== process.pid, "the approval happens in a new process");
    claimEqual("the approver's process", await approver.report, {
      byAgent: "not_permitted",
      byPerson: "recorded",
      byPersonAgain: "already_decided",
      label: "final",
      approvedBy: "dana",
    } satisfies ApproverReport);
    claimEqual("exit code of the approver's process", (await approver.ended).code, 0);
    claimEqual("refunds after the approval", refundsOf(stage), [LARGE_REFUND]);
    claimEqual("all refunds in the shop", readWorldFacts(stage.worldFile).refunds, [SMALL_REFUND, LARGE_REFUND]);
    printer.line("checked", "the shop's database: exactly one refund of Rs 4,000 on O-1005");
  },
};

/** The one question that the worker's run waits with; the worker is left running. */
async function waitingApproval(stage: Stage, worker: Child<WorkerReport>): Promise<string> {
  try {
    const { status, approvalIds } = await worker.report;
    claimEqual("state of the run", status, "waiting");
    const [approvalId = "", ...others] = approvalIds;
    claim(approvalId !== "" && others.length === 0, "the run waits for exactly one answer");
    claimEqual("refunds while the question is open", refundsOf(stage), []);
    return approvalId;
  } catch (error) {
    worker.stop();
    throw error;
  }
}

function claimPending(stage: Stage, approvalId: string): Promise<void> {
  return withDesk(stage, async ({ store }) => {
    const pending = await store.approvals({ tenant: "default", status: "pending" });
    claimEqual(
      "open questions in the store",
      pending.map((row) => row.approvalId),
      [approvalId],
    );
  });
}

function refundsOf({ worldFile }: Stage): readonly unknown[] {
  return readWorldFacts(worldFile).refunds.filter(({ orderId }) => orderId === LARGE_REFUND.orderId);
}
