import type { EvalDocument } from "../document.ts";
import type { DocumentVerdict } from "../gate-document.ts";
import { escapeMarkup } from "./escape-markup.ts";
import { sharesChart, tokensChart } from "./html-charts.ts";
import type { ReportOptions } from "./markdown.ts";
import { intervalText, metricText, percentText, type SuiteSummary, summariesOf } from "./summary.ts";

const STYLE = [
  "body{font:15px/1.5 system-ui,sans-serif;color:#1b1b1b;background:#fff;max-width:60rem;margin:2rem auto;padding:0 1rem}",
  "table{border-collapse:collapse;margin:.5rem 0}th,td{border:1px solid #c8c8c8;padding:.25rem .6rem;text-align:left}",
  ".pass{color:#0b6b2f}.fail{color:#b00020}svg{max-width:100%;height:auto}",
].join("");

/** Writes a document of results as one HTML page with charts, which needs nothing else and runs no script. */
export function htmlReport(document: EvalDocument, { verdict }: ReportOptions = {}): string {
  const { subject, weaknesses, without, date, madeWith } = document;
  const title = `Evaluation of ${subject.app}`;
  return [
    "<!doctype html>",
    '<html lang="en">',
    "<head>",
    '<meta charset="utf-8">',
    '<meta name="viewport" content="width=device-width, initial-scale=1">',
    // Whatever a model wrote into a result, the page loads and runs nothing.
    `<meta http-equiv="Content-Security-Policy" content="default-src 'none'; style-src 'unsafe-inline'">`,
    `<title>${escapeMarkup(title)}</title>`,
    `<style>${STYLE}</style>`,
    "</head>",
    "<body>",
    `<h1>${escapeMarkup(title)}</h1>`,
    ...(verdict === undefined ? [] : verdictParts(verdict)),
    ...(weaknesses.length > 0
      ? [`<p class="fail">Weakened on purpose: ${escapeMarkup(weaknesses.join(", "))}</p>`]
      : []),
    ...(without.length > 0 ? [`<p class="fail">Without the controls: ${escapeMarkup(without.join(", "))}</p>`] : []),
    ...summariesOf(document).flatMap((summary) => suiteParts(summary, document)),
    "<h2>How it was made</h2>",
    table(
      ["", ""],
      Object.entries({
        ...{ model: subject.agentModel, mode: subject.mode, transport: subject.transport },
        ...{ repeats: String(subject.repeats), judge: subject.judge ?? "none", date },
        ...{ belay: madeWith.belay, node: madeWith.node, policy: subject.policyHash, prompt: subject.promptHash },
      }).map(([name, value]) => [name, value]),
    ),
    "</body>",
    "</html>",
    "",
  ].join("\n");
}

function verdictParts({ passed, failures, notes }: DocumentVerdict): readonly string[] {
  const items = [
    ...failures.map(({ stage, problem }) => `<li><strong>${stage}</strong>: ${escapeMarkup(problem)}</li>`),
    ...notes.map((note) => `<li>${escapeMarkup(note)}</li>`),
  ];
  return [
    `<p class="${passed ? "pass" : "fail"}"><strong>Gate ${passed ? "passed" : "failed"}</strong></p>`,
    ...(items.length === 0 ? [] : [`<ul>${items.join("")}</ul>`]),
  ];
}

function suiteParts(summary: SuiteSummary, document: EvalDocument): readonly string[] {
  const { name, held, total, interval, classes, metrics, failed, failureRateMax } = summary;
  const cases = document.cases.filter(({ suite }) => suite === name);
  return [
    `<h2>${escapeMarkup(name)}: ${held} of ${total}</h2>`,
    `<p>Wilson 95 %: ${intervalText(interval)}.` +
      (failureRateMax === undefined
        ? "</p>"
        : ` No failure in ${total} is compatible with up to ${percentText(failureRateMax)} (exact, one-sided 95 %).</p>`),
    sharesChart(`${name}: cases that held, by class, with Wilson 95 % intervals`, classes),
    tokensChart(`${name}: input tokens of each case`, cases),
    ...(failed.length === 0
      ? []
      : [
          "<h3>Failed</h3>",
          table(
            ["case", "class", "held", "why"],
            failed.map((each) => [each.id, each.class, `${each.heldTimes}/${each.times}`, each.reasons.join("; ")]),
          ),
        ]),
    "<details><summary>Metrics</summary>",
    table(
      ["metric", "value"],
      Object.entries(metrics).map(([metric, value]) => [metric, metricText(value)]),
    ),
    "</details>",
  ];
}

function table(head: readonly string[], rows: readonly (readonly string[])[]): string {
  const heading = head.some((cell) => cell !== "")
    ? `<thead><tr>${head.map((cell) => `<th scope="col">${escapeMarkup(cell)}</th>`).join("")}</tr></thead>`
    : "";
  const body = rows.map(
    ([first = "", ...rest]) =>
      `<tr><th scope="row">${escapeMarkup(first)}</th>${rest.map((cell) => `<td>${escapeMarkup(cell)}</td>`).join("")}</tr>`,
  );
  return `<table>${heading}<tbody>${body.join("")}</tbody></table>`;
}
