import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";

/** One stored run of a suite, as far as the pages show it. */
export interface EvalResult {
  readonly file: string;
  readonly at: number;
  readonly app: string;
  readonly suite: string;
  /** Controls that were left out; empty for a result of the app as it is. */
  readonly without: readonly string[];
  readonly passed: number;
  readonly total: number;
  readonly interval?: { readonly low: number; readonly high: number };
  readonly classes: readonly { readonly name: string; readonly passed: number; readonly total: number }[];
  /** Absent when the document does not say. */
  readonly gate?: { readonly passed: boolean; readonly failures: readonly string[] };
  readonly forbidden?: number;
  readonly stops: readonly { readonly name: string; readonly count: number }[];
  readonly failedCases: readonly { readonly id: string; readonly reasons: readonly string[] }[];
}

export interface ReadResults {
  /** Oldest first. */
  readonly results: readonly EvalResult[];
  /** Files that are no results, by name. */
  readonly unreadable: readonly string[];
}

/** Larger files are no results of a suite. */
const FILE_BYTES_MAX = 16_000_000;
const FILES_MAX = 500;

type Fields = Readonly<Record<string, unknown>>;

/** Reads the documents of a folder; one that is missing or empty has no results. */
export async function readResults(folder: string | undefined): Promise<ReadResults> {
  const names = folder === undefined ? [] : await readdir(folder).catch(() => []);
  const files = names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .slice(-FILES_MAX);
  const read = await Promise.all(files.map((name) => readFileResults(join(folder ?? "", name), name)));
  return {
    results: read.flatMap((found) => found ?? []).sort((one, other) => one.at - other.at),
    unreadable: files.filter((_, index) => read[index] === undefined),
  };
}

async function readFileResults(path: string, name: string): Promise<readonly EvalResult[] | undefined> {
  try {
    const { size, mtimeMs } = await stat(path);
    if (size > FILE_BYTES_MAX) {
      return undefined;
    }
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    const results = (Array.isArray(value) ? value : [value]).map((each) => resultOf(each, name, mtimeMs));
    return results.every((result) => result !== undefined) ? results : undefined;
  } catch {
    return undefined;
  }
}

/** Reads what is known of a document and passes over what is not, so that newer ones can be shown too. */
function resultOf(value: unknown, file: string, changedAt: number): EvalResult | undefined {
  const document = fieldsOf(value);
  const { app, suite } = document;
  const success = fieldsOf(document["success"]);
  const [passed, total] = [numberOf(success["passed"]), numberOf(success["total"])];
  if (typeof app !== "string" || typeof suite !== "string" || passed === undefined || total === undefined) {
    return undefined;
  }
  const interval = fieldsOf(success["interval"]);
  const [low, high] = [numberOf(interval["low"]), numberOf(interval["high"])];
  const gate = fieldsOf(document["gate"]);
  const forbidden = numberOf(document["forbidden"]);
  return {
    file,
    at: timeOf(document["at"]) ?? changedAt,
    app,
    suite,
    without: textsOf(document["without"]),
    passed,
    total,
    ...(low !== undefined && high !== undefined && { interval: { low, high } }),
    classes: Object.entries(fieldsOf(document["classes"])).map(([name, share]) => {
      const { passed: classPassed, total: classTotal } = fieldsOf(share);
      return { name, passed: numberOf(classPassed) ?? 0, total: numberOf(classTotal) ?? 0 };
    }),
    ...(typeof gate["passed"] === "boolean" && {
      gate: { passed: gate["passed"], failures: textsOf(gate["failures"]) },
    }),
    ...(forbidden !== undefined && { forbidden }),
    stops: Object.entries(fieldsOf(document["stops"])).map(([name, count]) => ({ name, count: numberOf(count) ?? 0 })),
    failedCases: failedCasesOf(document["cases"]),
  };
}

function failedCasesOf(cases: unknown): EvalResult["failedCases"] {
  return (Array.isArray(cases) ? cases : [])
    .map(fieldsOf)
    .filter((each) => each["passed"] !== true)
    .map((each) => ({ id: String(each["id"]), reasons: textsOf(each["reasons"]) }));
}

function fieldsOf(value: unknown): Fields {
  return typeof value === "object" && value !== null && !Array.isArray(value) ? (value as Fields) : {};
}

function textsOf(value: unknown): readonly string[] {
  return Array.isArray(value) ? value.map(String) : [];
}

function numberOf(value: unknown): number | undefined {
  return typeof value === "number" && Number.isFinite(value) ? value : undefined;
}

function timeOf(value: unknown): number | undefined {
  const at = typeof value === "string" ? Date.parse(value) : value;
  return numberOf(at);
}
