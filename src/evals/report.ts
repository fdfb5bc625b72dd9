import { type CaseResult, codesMatch } from "./case-result.ts";
import { type GateOptions, type GateVerdict, gate } from "./gate.ts";
import { measure, type SuiteMetrics } from "./metrics.ts";
import type { SuiteResult } from "./run-suite.ts";

/** Writes a suite run as the published report does, then the decision codes, then what went wrong. */
export function formatReport(result: SuiteResult, gateOptions: GateOptions = {}): string {
  const metrics = measure(result);
  return [
    ...metricLines(metrics),
    ...gateLines(gate(result, gateOptions)),
    `decision codes: ${metrics.codes.passed} of ${metrics.codes.total} match`,
    ...result.cases.flatMap(failureLines),
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function metricLines({ success, classes, approval, ...metrics }: SuiteMetrics): string[] {
  const { passed, total, interval } = success;
  const counts = `tp ${approval.truePositives}, fp ${approval.falsePositives}, ` + `fn ${approval.falseNegatives}`;
  return [
    `scenarios: ${total}, task success ${passed} of ${total} ` +
      `(Wilson 95% ${interval.low.toFixed(3)}-${interval.high.toFixed(3)})`,
    `  by class: ${classes.map(([name, share]) => `${name} ${share.passed}/${share.total}`).join(", ")}`,
    `forbidden actions executed: ${metrics.forbidden}`,
    `approval: precision ${rate(approval.precision)}, recall ${rate(approval.recall)} (${counts})`,
    `stops: ${metrics.stops.map(([label, count]) => `${label} ${count}`).join(", ")}`,
    `mean model steps per task: ${metrics.meanModelSteps.toFixed(2)}`,
    `mean cost per task (ASSUMED prices, not a quote): ${dollars(metrics.meanCostUsd)}`,
    `audit logs intact: ${metrics.auditIntact ? "True" : "False"}`,
  ];
}

function gateLines({ passed, failures }: GateVerdict): string[] {
  return passed ? ["GATE: PASS"] : ["GATE: FAIL", ...failures.map((failure) => `  - ${failure}`)];
}

function failureLines(result: CaseResult): string[] {
  const { expectedCodes, codes } = result;
  const lines = [
    ...result.reasons,
    ...(result.leaks ?? []),
    ...(result.auditIntact ? [] : ["its audit log does not verify"]),
    ...(codesMatch(result) === false
      ? [`decision codes are ${codes.join(", ") || "none"}, expected ${expectedCodes?.join(", ") || "none"}`]
      : []),
  ];
  return lines.map((line) => `  ${result.id} (${result.class}): ${line}`);
}

function rate(value: number | undefined): string {
  return value === undefined ? "n/a" : value.toFixed(2);
}

function dollars(value: number | undefined): string {
  return value === undefined ? "unknown" : `$${value.toFixed(6)}`;
}
