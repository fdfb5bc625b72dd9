import { FIX_LOG_METRICS, type FixLog, type FixLogBuild, type FixLogMetric } from "./fix-log.ts";

/** Writes the published table, then each weakness alone against the build without any. */
export function formatFixLog(log: FixLog): string {
  const lines = [...tableLines(log), "", ...chartLines(log), `${log.builds} distinct suite configurations computed`];
  return lines.map((line) => `${line}\n`).join("");
}

function tableLines({ rows }: FixLog): readonly string[] {
  const all = rows[0]?.weaknesses.length ?? 0;
  const cells = [
    ["fixed so far", "on", ...FIX_LOG_METRICS],
    ...rows.map(({ fixed, weaknesses, values }) => [
      fixed ?? "(none)",
      weaknesses.length === 0 ? "none" : weaknesses.length === all ? `all ${all}` : weaknesses.join(","),
      ...FIX_LOG_METRICS.map((metric) => values[metric].toFixed(2)),
    ]),
  ];
  const widths = cells[0]?.map((_, column) => Math.max(...cells.map((row) => row[column]?.length ?? 0))) ?? [];
  return cells.map((row) =>
    row
      .map((cell, column) => (column < 2 ? cell.padEnd(widths[column] ?? 0) : cell.padStart(widths[column] ?? 0)))
      .join("  ")
      .trimEnd(),
  );
}

const BAR_CELLS = 24;

function chartLines({ alone, fixedBuild }: FixLog): readonly string[] {
  const width = Math.max(...FIX_LOG_METRICS.map((metric) => metric.length));
  const most = mostTokens([...alone, fixedBuild]);
  return alone.flatMap(({ weaknesses, values }) => [
    `${weaknesses.join(",")} alone (against the fixed build)`,
    ...FIX_LOG_METRICS.map((metric) => {
      const share = metric === "mean_input_tokens" ? values[metric] / most : values[metric];
      return (
        `  ${metric.padEnd(width)}  ${bar(share)} ${values[metric].toFixed(2)} ` +
        `(fixed ${fixedBuild.values[metric].toFixed(2)}${change(metric, values[metric], fixedBuild.values[metric])})`
      );
    }),
  ]);
}

/** The largest mean of input tokens, at least 1. */
export function mostTokens(builds: readonly FixLogBuild[]): number {
  return Math.max(1, ...builds.map(({ values }) => values.mean_input_tokens));
}

function bar(share: number): string {
  const full = Math.round(Math.min(1, Math.max(0, share)) * BAR_CELLS);
  return "#".repeat(full) + ".".repeat(BAR_CELLS - full);
}

function change(metric: FixLogMetric, value: number, fixed: number): string {
  if (metric !== "mean_input_tokens" || fixed === 0) {
    return "";
  }
  const percent = ((value - fixed) / fixed) * 100;
  return `, ${percent < 0 ? "" : "+"}${percent.toFixed(1)} %`;
}
