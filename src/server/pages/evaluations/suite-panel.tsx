import { type Html, NOTHING } from "../html.ts";
import { Panel } from "../shell/frame.tsx";
import { Badge } from "../show/badge.tsx";
import { BarList, ShareCurve } from "../show/charts.tsx";
import { plainLine } from "../show/code-points.ts";
import { Foreign } from "../show/foreign.tsx";
import { shareText } from "../show/numbers.ts";
import { dayOf, Time } from "../show/times.tsx";
import type { EvalResult } from "./suite-results.ts";

const TREND_MAX = 30;
const FAILED_SHOWN_MAX = 20;

/** The last result of a suite and the ones before it. */
export function SuitePanel(props: { readonly history: readonly EvalResult[]; readonly id: string }): Html {
  const { history, id } = props;
  const last = history.at(-1);
  if (last === undefined) {
    return NOTHING;
  }
  const trend = history.slice(-TREND_MAX).filter(({ total }) => total > 0);
  return (
    <Panel title={plainLine(`${last.app}, suite ${last.suite}`, 120)} id={id}>
      <div class="row">
        {last.gate === undefined ? (
          ""
        ) : (
          <Badge tone={last.gate.passed ? "good" : "bad"} text={last.gate.passed ? "gate passed" : "gate failed"} />
        )}
        <strong class="number">
          {last.passed} of {last.total} ({shareText(last.passed, last.total)})
        </strong>
        <span class="soft number">
          95 % interval {(100 * last.interval.low).toFixed(1)} to {(100 * last.interval.high).toFixed(1)} %
        </span>
        <span class="soft">
          <Time at={last.at} />
        </span>
      </div>
      {last.gate?.failures.map((failure) => (
        <Foreign text={failure} charactersMax={300} linesMax={2} />
      ))}
      <div class="columns">
        <div>
          <h3>Task success over stored results</h3>
          {trend.length < 2 ? (
            <p class="soft">One result; a second one starts the trend.</p>
          ) : (
            <ShareCurve
              label="Task success in per cent"
              points={trend.map(({ at, passed, total }) => ({ name: dayOf(at), share: passed / total }))}
            />
          )}
        </div>
        <div>
          <h3>Passed by class</h3>
          <BarList
            empty="The result names no classes."
            bars={last.classes.map(({ name, passed, total }) => ({
              name,
              value: passed,
              of: total,
              tone: passed === total ? "good" : "bad",
            }))}
          />
        </div>
      </div>
      <FailedCases result={last} />
    </Panel>
  );
}

function FailedCases(props: { readonly result: EvalResult }): Html {
  const { failedCases } = props.result;
  if (failedCases.length === 0) {
    return NOTHING;
  }
  return (
    <details>
      <summary>Cases that did not pass: {failedCases.length}</summary>
      <dl class="fields">
        {failedCases.slice(0, FAILED_SHOWN_MAX).map(({ id, reasons }) => (
          <div>
            <dt>{plainLine(id, 64)}</dt>
            <dd>
              <Foreign text={reasons.join("\n")} charactersMax={400} linesMax={4} />
            </dd>
          </div>
        ))}
      </dl>
    </details>
  );
}
