import { escapeMarkup } from "../reports/escape-markup.ts";
import { FIX_LOG_METRICS, type FixLog, type FixLogBuild } from "./fix-log.ts";
import { mostTokens } from "./fix-log-text.ts";

const ROW_HEIGHT = 18;
const GROUP_GAP = 26;
const LABEL_WIDTH = 190;
const CHART_WIDTH = 320;
const WIDTH = LABEL_WIDTH + CHART_WIDTH + 130;

/** Draws each weakness alone against the fixed build: a bar for the weak build, a line where the fixed one is. */
export function fixLogSvg({ app, suite, alone, fixedBuild }: FixLog): string {
  const most = mostTokens([...alone, fixedBuild]);
  const groupHeight = GROUP_GAP + FIX_LOG_METRICS.length * ROW_HEIGHT;
  const height = 40 + alone.length * groupHeight;
  return [
    `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" ` +
      'role="img" font-family="system-ui, sans-serif" font-size="12">',
    `<title>${escapeMarkup(`${app} ${suite}: each weakness alone against the fixed build`)}</title>`,
    `<rect width="${WIDTH}" height="${height}" fill="#ffffff"/>`,
    `<text x="8" y="22" font-size="14" font-weight="600">${escapeMarkup(`${app} ${suite}`)}: bar = weak build, line = fixed build</text>`,
    ...alone.map((build, at) => group(build, fixedBuild, most, 40 + at * groupHeight)),
    "</svg>",
    "",
  ].join("\n");
}

function group({ weaknesses, values }: FixLogBuild, fixedBuild: FixLogBuild, most: number, top: number): string {
  const rows = FIX_LOG_METRICS.map((metric, at) => {
    const isTokens = metric === "mean_input_tokens";
    const y = top + GROUP_GAP - 6 + at * ROW_HEIGHT;
    const place = (value: number): string =>
      (Math.min(1, Math.max(0, value / (isTokens ? most : 1))) * CHART_WIDTH).toFixed(1);
    const fixedAt = (LABEL_WIDTH + Number(place(fixedBuild.values[metric]))).toFixed(1);
    return [
      `<text x="16" y="${y + 11}">${metric}</text>`,
      `<rect x="${LABEL_WIDTH}" y="${y + 2}" width="${place(values[metric])}" height="11" fill="${isTokens ? "#7a5195" : "#2f6f9f"}"/>`,
      `<line x1="${fixedAt}" x2="${fixedAt}" y1="${y}" y2="${y + 15}" stroke="#b00020" stroke-width="2"/>`,
      `<text x="${LABEL_WIDTH + CHART_WIDTH + 8}" y="${y + 11}">${values[metric].toFixed(2)} / ${fixedBuild.values[metric].toFixed(2)}</text>`,
    ].join("");
  });
  return `<g><text x="8" y="${top + 12}" font-weight="600">${escapeMarkup(weaknesses.join(","))}</text>${rows.join("")}</g>`;
}
