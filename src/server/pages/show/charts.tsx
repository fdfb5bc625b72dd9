import type { Html } from "../html.ts";
import { plainLine } from "./code-points.ts";
import { countText } from "./numbers.ts";

export interface Bar {
  readonly name: string;
  readonly value: number;
  /** What a full bar means; default the largest value. */
  readonly of?: number;
  readonly tone?: "good" | "bad" | "wait";
  readonly href?: string;
}

/** Longer lists stand in two columns where there is room. */
const SHORT_LIST_MAX = 6;

/** Bars beside their names and numbers: the list is the chart, and reads without it. */
export function BarList(props: { readonly bars: readonly Bar[]; readonly empty: string }): Html {
  const { bars, empty } = props;
  const max = Math.max(1, ...bars.map(({ value }) => value));
  if (bars.length === 0) {
    return <p class="soft">{empty}</p>;
  }
  return (
    <ul class={bars.length > SHORT_LIST_MAX ? "bars many" : "bars"}>
      {bars.map(({ name, value, of, tone, href }) => (
        <li>
          <span>{href === undefined ? plainLine(name, 60) : <a href={href}>{plainLine(name, 60)}</a>}</span>
          <span class="value number">
            {countText(value)}
            {of === undefined ? "" : `/${countText(of)}`}
          </span>
          <svg viewBox="0 0 100 4" preserveAspectRatio="none" aria-hidden="true" class="chart">
            <rect class="track" width="100" height="4" />
            <rect
              class={`bar tone-${tone ?? "info"}`}
              width={((100 * value) / Math.max(1, of ?? max)).toFixed(2)}
              height="4"
            />
          </svg>
        </li>
      ))}
    </ul>
  );
}

export interface Column {
  readonly name: string;
  readonly value: number;
}

const COLUMNS_WIDTH = 460;
const COLUMNS_HEIGHT = 150;
const LEFT = 32;
const BOTTOM = 22;

/** Columns over time. What it shows is also told in words, in its label. */
export function Columns(props: { readonly columns: readonly Column[]; readonly label: string }): Html {
  const { columns, label } = props;
  const max = Math.max(1, ...columns.map(({ value }) => value));
  const width = (COLUMNS_WIDTH - LEFT) / Math.max(1, columns.length);
  const plot = COLUMNS_HEIGHT - BOTTOM - 14;
  const every = Math.ceil(columns.length / 7);
  const told = columns.map(({ name, value }) => `${name}: ${value}`).join(", ");
  return (
    <svg class="chart" viewBox={`0 0 ${COLUMNS_WIDTH} ${COLUMNS_HEIGHT}`} role="img" aria-label={`${label}. ${told}`}>
      <line class="axis" x1={LEFT} y1={14} x2={COLUMNS_WIDTH} y2={14} />
      <line class="axis" x1={LEFT} y1={14 + plot} x2={COLUMNS_WIDTH} y2={14 + plot} />
      <text x={LEFT - 6} y={18} text-anchor="end">
        {countText(max)}
      </text>
      <text x={LEFT - 6} y={18 + plot} text-anchor="end">
        0
      </text>
      {columns.map(({ name, value }, index) => {
        const height = (plot * value) / max;
        const left = LEFT + index * width;
        return (
          <>
            <rect
              class="bar"
              x={(left + width * 0.15).toFixed(1)}
              y={(14 + plot - height).toFixed(1)}
              width={(width * 0.7).toFixed(1)}
              height={height.toFixed(1)}
            />
            {index % every === 0 ? (
              <text x={(left + width / 2).toFixed(1)} y={COLUMNS_HEIGHT - 6} text-anchor="middle">
                {name.slice(-5)}
              </text>
            ) : (
              ""
            )}
          </>
        );
      })}
    </svg>
  );
}

/** A share from 0 to 1 over results in order, oldest first. */
export function ShareCurve(props: {
  readonly points: readonly { readonly name: string; readonly share: number }[];
  readonly label: string;
}): Html {
  const { points, label } = props;
  const plot = COLUMNS_HEIGHT - BOTTOM - 14;
  const step = (COLUMNS_WIDTH - LEFT - 24) / Math.max(1, points.length - 1);
  const places = points.map(({ name, share }, index) => ({
    name,
    x: LEFT + 12 + index * step,
    y: 14 + plot * (1 - share),
  }));
  const told = points.map(({ name, share }) => `${name}: ${(100 * share).toFixed(0)} %`).join(", ");
  const [first, last] = [places[0], places.at(-1)];
  return (
    <svg class="chart" viewBox={`0 0 ${COLUMNS_WIDTH} ${COLUMNS_HEIGHT}`} role="img" aria-label={`${label}. ${told}`}>
      {[0, 0.5, 1].map((share) => (
        <>
          <line class="axis" x1={LEFT} y1={14 + plot * (1 - share)} x2={COLUMNS_WIDTH} y2={14 + plot * (1 - share)} />
          <text x={LEFT - 6} y={18 + plot * (1 - share)} text-anchor="end">
            {100 * share}
          </text>
        </>
      ))}
      <polyline class="curve" points={places.map(({ x, y }) => `${x.toFixed(1)},${y.toFixed(1)}`).join(" ")} />
      {places.map(({ x, y }) => (
        <circle class="dot" cx={x.toFixed(1)} cy={y.toFixed(1)} r={3} />
      ))}
      {first === undefined ? (
        ""
      ) : (
        <text x={LEFT} y={COLUMNS_HEIGHT - 6}>
          {plainLine(first.name, 24)}
        </text>
      )}
      {last === undefined || places.length < 2 ? (
        ""
      ) : (
        <text x={COLUMNS_WIDTH} y={COLUMNS_HEIGHT - 6} text-anchor="end">
          {plainLine(last.name, 24)}
        </text>
      )}
    </svg>
  );
}
