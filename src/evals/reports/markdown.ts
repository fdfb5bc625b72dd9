import type { EvalDocument } from "../document.ts";
import type { DocumentVerdict } from "../gate-document.ts";
import { escapeMarkdown } from "./escape-markdown.ts";
import { intervalText, metricText, percentText, type SuiteSummary, summariesOf } from "./summary.ts";

export interface ReportOptions {
  /** What the gate said of the document. */
  readonly verdict?: DocumentVerdict;
}

/** By this a workflow finds the comment that it wrote before. */
export const MARKDOWN_MARK = "<!-- belay-evaluation-report -->";

/** Writes a document of results as Markdown, such as for a comment on a pull request. */
export function markdownReport(document: EvalDocument, { verdict }: ReportOptions = {}): string {
  const { subject, weaknesses, without, date, madeWith } = document;
  const notes = [
    ...(weaknesses.length > 0 ? [`**Weakened on purpose:** ${escapeMarkdown(weaknesses.join(", "))}`] : []),
    ...(without.length > 0 ? [`**Without the controls:** ${escapeMarkdown(without.join(", "))}`] : []),
  ];
  return [
    MARKDOWN_MARK,
    `## Evaluation of ${escapeMarkdown(subject.app)}${verdict === undefined ? "" : `: gate ${verdict.passed ? "passed" : "FAILED"}`}`,
    "",
    ...(verdict === undefined ? [] : verdictLines(verdict)),
    ...notes.flatMap((note) => [note, ""]),
    ...summariesOf(document).flatMap(suiteLines),
    `Model ${escapeMarkdown(subject.agentModel)}, mode ${subject.mode}, transport ${escapeMarkdown(subject.transport)}, ` +
      `${subject.repeats} repeat(s), judge ${escapeMarkdown(subject.judge ?? "none")}. ` +
      `Made ${escapeMarkdown(date)} with Belay ${escapeMarkdown(madeWith.belay)} on Node ${escapeMarkdown(madeWith.node)}.`,
  ]
    .map((line) => `${line}\n`)
    .join("");
}

function verdictLines({ failures, notes }: DocumentVerdict): readonly string[] {
  const lines = [
    ...failures.map(({ stage, problem }) => `- **${stage}**: ${escapeMarkdown(problem)}`),
    ...notes.map((note) => `- ${escapeMarkdown(note)}`),
  ];
  return lines.length === 0 ? [] : [...lines, ""];
}

function suiteLines({
  name,
  held,
  total,
  interval,
  classes,
  metrics,
  failed,
  failureRateMax,
}: SuiteSummary): readonly string[] {
  return [
    `### ${escapeMarkdown(name)}: ${held} of ${total}`,
    "",
    `Wilson 95 %: ${intervalText(interval)}.` +
      (failureRateMax === undefined
        ? ""
        : ` No failure in ${total} is compatible with up to ${percentText(failureRateMax)} (exact, one-sided 95 %).`),
    "",
    "| class | held | Wilson 95 % |",
    "|---|---|---|",
    ...classes.map(
      (each) => `| ${escapeMarkdown(each.name)} | ${each.held}/${each.total} | ${intervalText(each.interval)} |`,
    ),
    "",
    ...failedLines(failed),
    "<details><summary>Metrics</summary>",
    "",
    "| metric | value |",
    "|---|---|",
    ...Object.entries(metrics).map(([metric, value]) => `| ${escapeMarkdown(metric)} | ${metricText(value)} |`),
    "",
    "</details>",
    "",
  ];
}

function failedLines(failed: SuiteSummary["failed"]): readonly string[] {
  return failed.length === 0
    ? []
    : [
        "| failed | class | held | why |",
        "|---|---|---|---|",
        ...failed.map(
          ({ id, class: name, heldTimes, times, reasons }) =>
            `| ${escapeMarkdown(id)} | ${escapeMarkdown(name)} | ${heldTimes}/${times} | ${escapeMarkdown(reasons.join("; "))} |`,
        ),
        "",
      ];
}
