import { type Fields, listOf, textsOf } from "./json-fields.ts";
import type { EvalResult } from "./suite-results.ts";

export interface MatrixRow {
  readonly control: string;
  /** Cases that fail without it and pass with it. */
  readonly cases: readonly string[];
  /** Why it cannot act in this agent; such a row needs no case. */
  readonly idle?: string;
}

/** Which cases fail when a control is taken out. */
export interface Matrix {
  readonly at: number;
  readonly app: string;
  /** Absent: all suites of the app. */
  readonly suite?: string;
  readonly rows: readonly MatrixRow[];
  /** Cases that fail with every control in place; with any, the matrix proves nothing. */
  readonly failing: readonly string[];
}

/** Reads what `belay ablate --json` prints; undefined for any other document. */
export function matrixOf(document: Fields, at: number): Matrix | undefined {
  const { app, rows } = document;
  if (typeof app !== "string" || !Array.isArray(rows)) {
    return undefined;
  }
  return {
    at,
    app,
    failing: textsOf(document["failing"]),
    rows: sorted(
      listOf(rows).map(({ control, killedBy, idle }) => ({
        control: String(control),
        cases: textsOf(killedBy),
        ...(typeof idle === "string" && { idle }),
      })),
    ),
  };
}

/** Makes the same of results of a suite that ran without one control each; undefined of no results. */
export function matrixOfResults(results: readonly EvalResult[], baseline: EvalResult | undefined): Matrix | undefined {
  const last = results.at(-1);
  if (last === undefined) {
    return undefined;
  }
  const failing = baseline?.failedCases.map(({ id }) => id) ?? [];
  const newest = new Map(results.map((result) => [result.without.join(" + "), result]));
  const rows = [...newest].map(([control, { failedCases }]) => ({
    control,
    cases: failedCases.map(({ id }) => id).filter((caseId) => !failing.includes(caseId)),
  }));
  return { at: last.at, app: last.app, suite: last.suite, failing, rows: sorted(rows) };
}

/** The most needed first; what cannot act last. */
function sorted(rows: readonly MatrixRow[]): readonly MatrixRow[] {
  const weight = ({ cases, idle }: MatrixRow): number => (idle === undefined ? cases.length : -1);
  return rows.toSorted((one, other) => weight(other) - weight(one) || (one.control < other.control ? -1 : 1));
}
