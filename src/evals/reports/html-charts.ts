import type { DocumentCase } from "../document.ts";
import { escapeMarkup } from "./escape-markup.ts";
import type { HeldShare } from "./summary.ts";

const LABEL_WIDTH = 190;
const CHART_WIDTH = 420;
const ROW_HEIGHT = 24;
const WIDTH = LABEL_WIDTH + CHART_WIDTH + 80;
const TOKENS_HEIGHT = 140;

/** A bar for each share, with its interval as a line. */
export function sharesChart(title: string, shares: readonly HeldShare[]): string {
  const rows = shares.map(({ name, held, total, interval }, at) => {
    const y = 8 + at * ROW_HEIGHT;
    const x = (share: number): string => (LABEL_WIDTH + share * CHART_WIDTH).toFixed(1);
    const share = total === 0 ? 0 : held / total;
    const middle = y + 8;
    return [
      `<text x="0" y="${y + 13}">${escapeMarkup(name)}</text>`,
      `<rect x="${LABEL_WIDTH}" y="${y}" width="${(share * CHART_WIDTH).toFixed(1)}" height="16" fill="#2f6f9f"/>`,
      `<line x1="${x(interval.low)}" x2="${x(interval.high)}" y1="${middle}" y2="${middle}" stroke="#b85c00" stroke-width="2"/>`,
      `<text x="${LABEL_WIDTH + CHART_WIDTH + 8}" y="${y + 13}">${held}/${total}</text>`,
    ].join("");
  });
  return chart(title, 16 + shares.length * ROW_HEIGHT, rows.join(""));
}

/** A bar for each case, in the order of the suite: who is expensive stands out. */
export function tokensChart(title: string, cases: readonly DocumentCase[]): string {
  const tokens = cases.map(({ repeats }) =>
    repeats.length === 0 ? 0 : repeats.reduce((sum, { inputTokens }) => sum + inputTokens, 0) / repeats.length,
  );
  const most = Math.max(1, ...tokens);
  const width = WIDTH / Math.max(1, cases.length);
  const bars = cases.map(({ id }, at) => {
    const value = tokens[at] ?? 0;
    const height = (value / most) * (TOKENS_HEIGHT - 20);
    return (
      `<rect x="${(at * width).toFixed(1)}" y="${(TOKENS_HEIGHT - height).toFixed(1)}" width="${(width * 0.8).toFixed(1)}" ` +
      `height="${height.toFixed(1)}" fill="#7a5195"><title>${escapeMarkup(`${id}: ${Math.round(value)}`)}</title></rect>`
    );
  });
  return chart(title, TOKENS_HEIGHT, `<text x="0" y="12">most: ${Math.round(most)}</text>${bars.join("")}`);
}

function chart(title: string, height: number, content: string): string {
  return (
    `<svg viewBox="0 0 ${WIDTH} ${height}" width="${WIDTH}" height="${height}" role="img" font-size="13">` +
    `<title>${escapeMarkup(title)}</title>${content}</svg>`
  );
}
