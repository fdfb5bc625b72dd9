import { approvalStep } from "./approval-step.ts";
import { closedWindowStep, injectionStep, questionStep, smallRefundStep } from "./customer-steps.ts";
import { evidenceStep } from "./evidence-step.ts";
import type { Step } from "./run-steps.ts";

/** The story, in order; each step builds on the shop that the ones before it left. */
export const DEMO_STEPS: readonly Step[] = [
  questionStep,
  smallRefundStep,
  closedWindowStep,
  injectionStep,
  approvalStep,
  evidenceStep,
];
