import type { Html } from "../html.ts";
import { Notice, Panel } from "../shell/frame.tsx";
import { Badge } from "../show/badge.tsx";
import { plainLine } from "../show/code-points.ts";
import { ForeignLine } from "../show/foreign.tsx";
import { Time } from "../show/times.tsx";
import type { Matrix, MatrixRow } from "./matrices.ts";

const CASES_SHOWN_MAX = 12;

/** Which cases fail when a control is taken out. A control whose row is empty is not shown to be good for anything. */
export function KillMatrix(props: { readonly matrix: Matrix; readonly id: string }): Html {
  const { matrix, id } = props;
  const { rows, failing, app, suite, at } = matrix;
  const able = rows.filter(({ idle }) => idle === undefined);
  const needed = able.filter(({ cases }) => cases.length > 0);
  return (
    <Panel title={plainLine(`Kill matrix: ${app}${suite === undefined ? "" : `, suite ${suite}`}`, 120)} id={id}>
      <p class="soft">
        Each control is taken out alone and the cases run again. {needed.length} of {able.length} controls make at least
        one case fail. <Time at={at} />
      </p>
      {failing.length === 0 ? (
        ""
      ) : (
        <Notice tone="bad" title="Cases fail with every control in place, so this matrix proves little.">
          <p>{plainLine(failing.slice(0, CASES_SHOWN_MAX).join(", "), 300)}</p>
        </Notice>
      )}
      <table class="table">
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
          {rows.map((row) => (
            <Row row={row} />
          ))}
        </tbody>
      </table>
    </Panel>
  );
}

function Row(props: { readonly row: MatrixRow }): Html {
  const { control, cases, idle } = props.row;
  return (
    <tr>
      <th scope="row" data-label="Control">
        <code>{plainLine(control, 80)}</code>
      </th>
      <td data-label="Needed">
        <Needed row={props.row} />
      </td>
      <td data-label="Cases" class="end number">
        {cases.length}
      </td>
      <td data-label="Which">
        {idle === undefined ? plainLine(cases.slice(0, CASES_SHOWN_MAX).join(", "), 240) : <ForeignLine text={idle} />}
        {cases.length > CASES_SHOWN_MAX ? ` and ${cases.length - CASES_SHOWN_MAX} more` : ""}
      </td>
    </tr>
  );
}

function Needed(props: { readonly row: MatrixRow }): Html {
  const { cases, idle } = props.row;
  if (idle !== undefined) {
    return <Badge tone="quiet" text="cannot act here" />;
  }
  return cases.length > 0 ? <Badge tone="good" text="yes" /> : <Badge tone="bad" text="no case fails" />;
}
