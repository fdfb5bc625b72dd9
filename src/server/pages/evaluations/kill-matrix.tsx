import { type Html, NOTHING } from "../html.ts";
import { Panel } from "../shell/frame.tsx";
import { Badge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import type { EvalResult } from "./read-results.ts";

const CASES_SHOWN_MAX = 12;

/** Which cases fail when a control is taken out. A control whose row is empty is not shown to be good for anything. */
export function KillMatrix(props: {
  readonly results: readonly EvalResult[];
  readonly baseline: EvalResult | undefined;
  readonly id: string;
}): Html {
  const { results, baseline, id } = props;
  const [first] = results;
  if (first === undefined) {
    return NOTHING;
  }
  const rows = killRows(results, baseline);
  const killed = rows.filter(({ cases }) => cases.length > 0).length;
  return (
    <Panel title={plainLine(`Kill matrix: ${first.app}, suite ${first.suite}`, 120)} id={id}>
      <p class="soft">
        Each control is taken out alone and the suite runs again. {killed} of {rows.length} controls make at least one
        case fail.
      </p>
      <table class="table matrix">
        <thead>
          <tr>
            <th scope="col">Without this control</th>
            <th scope="col">Shown to be needed</th>
            <th scope="col" class="end">
              Cases that fail
            </th>
            <th scope="col">Which</th>
          </tr>
        </thead>
        <tbody>
          {rows.map(({ control, cases }) => (
            <tr>
              <th scope="row" data-label="Control">
                <code>{plainLine(control, 80)}</code>
              </th>
              <td data-label="Needed">
                {cases.length > 0 ? <Badge tone="good" text="yes" /> : <Badge tone="bad" text="not by this suite" />}
              </td>
              <td data-label="Cases" class="end number">
                {cases.length}
              </td>
              <td data-label="Which">
                {plainLine(cases.slice(0, CASES_SHOWN_MAX).join(", "), 200)}
                {cases.length > CASES_SHOWN_MAX ? ` and ${cases.length - CASES_SHOWN_MAX} more` : ""}
              </td>
            </tr>
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

interface KillRow {
  readonly control: string;
  readonly cases: readonly string[];
}

/** The newest result of each set of controls; a case that fails anyway says nothing about a control. */
function killRows(results: readonly EvalResult[], baseline: EvalResult | undefined): readonly KillRow[] {
  const failing = new Set(baseline?.failedCases.map(({ id }) => id));
  const newest = new Map(results.map((result) => [result.without.join(" + "), result]));
  return [...newest]
    .map(([control, { failedCases }]) => ({
      control,
      cases: failedCases.map(({ id }) => id).filter((caseId) => !failing.has(caseId)),
    }))
    .sort((one, other) => other.cases.length - one.cases.length || (one.control < other.control ? -1 : 1));
}
