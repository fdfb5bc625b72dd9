import type { AnyApp } from "../../config.ts";
import { BelayError } from "../../errors.ts";
import { type AgentMetrics, agentMetrics } from "../agent-metrics.ts";
import { runSuite } from "../run-suite.ts";

/** Metrics of the published table, in its order. */
export const FIX_LOG_METRICS = [
  "tool_selection_accuracy",
  "answer_correctness",
  "termination_match_rate",
  "must_not_call_ok_rate",
  "mean_input_tokens",
] as const;

export type FixLogMetric = (typeof FIX_LOG_METRICS)[number];

type FixLogValues = Readonly<Record<FixLogMetric, number>>;

/** A build, by the weaknesses that are in it. */
export interface FixLogBuild {
  readonly weaknesses: readonly string[];
  readonly values: FixLogValues;
}

export interface FixLog {
  readonly app: string;
  readonly suite: string;
  readonly cases: number;
  /** From the build with every weakness to the one without any; each mends one more than the row before. */
  readonly rows: readonly (FixLogBuild & { readonly fixed: string | null })[];
  /** Each weakness by itself. */
  readonly alone: readonly FixLogBuild[];
  readonly fixedBuild: FixLogBuild;
  /** Different builds that were run. */
  readonly builds: number;
}

export interface FixLogOptions {
  /** Default `reference`. */
  readonly suite?: string;
  readonly parallel?: number;
  readonly onProgress?: (done: number, total: number, weaknesses: readonly string[]) => void;
}

/**
 * Runs a suite while an app's weaknesses are mended one after the other, and with each of them alone.
 *
 * A build that occurs twice runs once. Throws `BELAY_EVAL_CASE` for an app that has no weaknesses or a suite of which no
 * case names its expected tools, and `BELAY_EVAL_SUITE_UNKNOWN`.
 */
export async function runFixLog(app: AnyApp, options: FixLogOptions = {}): Promise<FixLog> {
  const { suite = "reference", parallel, onProgress } = options;
  const { weaknessNames: names = [], configure } = app;
  if (configure === undefined || names.length === 0) {
    throw new BelayError("BELAY_EVAL_CASE", `the app ${app.name} has no weaknesses to mend; give it "weaknessNames"`);
  }
  const steps = [...names.keys(), names.length].map((mended) => names.slice(mended));
  const wanted = [...steps, ...names.map((name) => [name])];
  const total = new Set(wanted.map(keyOf)).size;
  const known = new Map<string, { readonly build: FixLogBuild; readonly cases: number }>();
  for (const weaknesses of wanted) {
    const key = keyOf(weaknesses);
    if (!known.has(key)) {
      const configured = configure.call(app, { weaknesses: weaknesses.join(",") });
      const metrics = agentMetrics(await runSuite(configured, suite, { ...(parallel !== undefined && { parallel }) }));
      known.set(key, { build: { weaknesses, values: valuesOf(metrics, suite) }, cases: metrics?.cases ?? 0 });
      onProgress?.(known.size, total, weaknesses);
    }
  }
  const buildOf = (weaknesses: readonly string[]): FixLogBuild => {
    const found = known.get(keyOf(weaknesses));
    if (found === undefined) {
      throw new BelayError("BELAY_INTERNAL", `the build ${keyOf(weaknesses)} was not run`);
    }
    return found.build;
  };
  return {
    app: app.name,
    suite,
    cases: known.get(keyOf([]))?.cases ?? 0,
    rows: steps.map((weaknesses, at) => ({ fixed: names[at - 1] ?? null, ...buildOf(weaknesses) })),
    alone: names.map((name) => buildOf([name])),
    fixedBuild: buildOf([]),
    builds: known.size,
  };
}

function keyOf(weaknesses: readonly string[]): string {
  return weaknesses.toSorted().join(",");
}

function valuesOf(metrics: AgentMetrics | undefined, suite: string): FixLogValues {
  if (metrics === undefined) {
    throw new BelayError("BELAY_EVAL_CASE", `no case of the suite ${suite} names its expected tools`);
  }
  return Object.fromEntries(FIX_LOG_METRICS.map((metric) => [metric, metrics[metric]])) as FixLogValues;
}
