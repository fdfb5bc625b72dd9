import type { DecideOutcome, Principal } from "belay-harness";
import { sendReport } from "./child.ts";
import { createGateReader } from "./gate-lines.ts";
import { createPrinter } from "./printer.ts";
import { createStage, withDesk } from "./stage.ts";

/** What the approver's process saw. */
export interface ApproverReport {
  readonly byAgent: DecideOutcome["status"];
  readonly byPerson: DecideOutcome["status"];
  readonly byPersonAgain: DecideOutcome["status"];
  readonly label?: string;
  readonly approvedBy?: string;
}

const PERSON: Principal = { kind: "person", id: "dana" };
const AGENT: Principal = { kind: "agent", id: "shop" };

/** A new process: it has nothing but the files, finds the question there, and goes on with the run after the answer. */
const [folder = "", approvalId = ""] = process.argv.slice(2);
const stage = createStage(folder, createPrinter(process.stdout));
const report = await withDesk(stage, async ({ harness, store }): Promise<ApproverReport> => {
  const { printer } = stage;
  const answer = (by: Principal) => harness.decide({ approvalId, answer: "approved", by });
  const question = await store.approval("default", approvalId);
  printer.line("process", `${process.pid} reads the question from the store: ${question?.tool} (${question?.status})`);
  const byAgent = await answer(AGENT);
  printer.line("refused", "an approval by the agent itself", `${byAgent.status}: only a person decides`);
  const told = (await store.read({ tenant: "default", runId: question?.runId ?? "" })).length;
  const byPerson = await answer(PERSON);
  const run = { tenant: "default", runId: question?.runId ?? "" };
  const result = await harness.advance(run);
  const reader = createGateReader();
  for (const { seq, event } of await store.read(run)) {
    for (const { mark, what, why: reason } of reader.read(event)) {
      if (seq > told) {
        printer.line(mark, what, reason);
      }
    }
  }
  printer.line("agent", result.answer ?? "(no answer)");
  const byPersonAgain = await answer(PERSON);
  printer.line("refused", "a second approval of the same question", `${byPersonAgain.status}: the first answer stands`);
  await harness.advance(run);
  const resolvedBy = (await store.approval("default", approvalId))?.resolvedBy?.id;
  return {
    byAgent: byAgent.status,
    byPerson: byPerson.status,
    byPersonAgain: byPersonAgain.status,
    ...(result.label === undefined ? {} : { label: result.label }),
    ...(resolvedBy === undefined ? {} : { approvedBy: resolvedBy }),
  };
});
await sendReport(report);
process.disconnect?.();
