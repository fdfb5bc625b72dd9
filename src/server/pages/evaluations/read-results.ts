import { readdir, readFile, stat } from "node:fs/promises";
import { join } from "node:path";
import { type Fields, fieldsOf, timeOf } from "./json-fields.ts";
import { type Matrix, matrixOf } from "./matrices.ts";
import { type EvalResult, suiteResults } from "./suite-results.ts";

export interface ReadResults {
  /** Oldest first. */
  readonly results: readonly EvalResult[];
  /** Oldest first. */
  readonly matrices: readonly Matrix[];
  /** Files that hold neither, by name. */
  readonly unreadable: readonly string[];
}

interface ReadDocument {
  readonly document: Fields;
  readonly at: number;
}

/** Larger files are no results of a suite. */
const FILE_BYTES_MAX = 16_000_000;
const FILES_MAX = 500;

/** Reads the documents of a folder; one that is missing or empty has no results. */
export async function readResults(folder: string | undefined): Promise<ReadResults> {
  const names = folder === undefined ? [] : await readdir(folder).catch(() => []);
  const files = names
    .filter((name) => name.endsWith(".json"))
    .sort()
    .slice(-FILES_MAX);
  const read = await Promise.all(
    files.map(async (name) => {
      const documents = await readDocuments(join(folder ?? "", name));
      return {
        name,
        results: documents.flatMap(({ document, at }) => suiteResults(document, at)),
        matrices: documents.flatMap(({ document, at }) => matrixOf(document, at) ?? []),
      };
    }),
  );
  return {
    results: read.flatMap(({ results }) => results).sort((one, other) => one.at - other.at),
    matrices: read.flatMap(({ matrices }) => matrices).sort((one, other) => one.at - other.at),
    unreadable: read.flatMap(({ name, results, matrices }) => (results.length + matrices.length === 0 ? [name] : [])),
  };
}

/** The documents of a file, which holds one or a list of them; none when it cannot be read. */
async function readDocuments(path: string): Promise<readonly ReadDocument[]> {
  try {
    const { size, mtimeMs } = await stat(path);
    if (size > FILE_BYTES_MAX) {
      return [];
    }
    const value: unknown = JSON.parse(await readFile(path, "utf8"));
    return (Array.isArray(value) ? value : [value]).map((each) => {
      const document = fieldsOf(each);
      // Documents say when they were made; for what was only printed, the file does.
      return { document, at: timeOf(document["date"] ?? document["at"]) ?? mtimeMs };
    });
  } catch {
    return [];
  }
}
