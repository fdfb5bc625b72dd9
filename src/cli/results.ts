import { mkdirSync, renameSync, writeFileSync } from "node:fs";
import { dirname, join, resolve } from "node:path";
import {
  type DocumentVerdict,
  type EvalDocument,
  htmlReport,
  junitReport,
  markdownReport,
  type ReportOptions,
} from "../evals/index.ts";
import { type CommandInput, type OptionSpec, textOption } from "./command.ts";
import { usageError } from "./usage.ts";

/** Where results lie unless told otherwise: the console looks here too. */
const RESULTS_FOLDER = join(".belay", "results");

type ReportForm = "markdown" | "html" | "junit";

const FORMS: Readonly<
  Record<ReportForm, { readonly end: string; write(document: EvalDocument, options: ReportOptions): string }>
> = {
  markdown: { end: "md", write: markdownReport },
  html: { end: "html", write: htmlReport },
  junit: { end: "xml", write: junitReport },
};

export const REPORT_OPTIONS: Readonly<Record<ReportForm, OptionSpec>> = {
  markdown: { type: "string", value: "file", help: "write Markdown, such as for a pull request" },
  html: { type: "string", value: "file", help: "write one page with charts that needs nothing else" },
  junit: { type: "string", value: "file", help: "write JUnit XML" },
};

export const OUT_OPTION: Readonly<Record<"out", OptionSpec>> = {
  out: {
    type: "string",
    value: "place",
    help: `folder of the results (default ${RESULTS_FOLDER}), or one .json file`,
  },
};

/** Name of the files of one result, without their end: the time first, so that they sort by it. */
export function resultStem(date: string, app: string, what: string): string {
  return `${date}-${app}-${what}`.replace(/[^\p{L}\p{N}_+-]+/gu, "-");
}

/**
 * Writes a document where `--out` says, in every form into a folder or alone into a file that ends with `.json`, and the
 * forms that were asked for by name. Throws `BELAY_USAGE` for a place that cannot be written.
 */
export function writeResults(
  input: CommandInput,
  document: EvalDocument,
  { isKept, verdict }: { readonly isKept: boolean; readonly verdict?: DocumentVerdict },
): void {
  const options = verdict === undefined ? {} : { verdict };
  const out = textOption(input, "out") ?? (isKept ? RESULTS_FOLDER : undefined);
  if (out?.endsWith(".json")) {
    writeWhole(input, out, jsonOf(document));
    input.output.progress(`wrote ${out}`);
  } else if (out !== undefined) {
    const { app, datasets } = document.subject;
    const stem = join(out, resultStem(document.date, app, Object.keys(datasets).join("+")));
    for (const { end, write } of Object.values(FORMS)) {
      writeWhole(input, `${stem}.${end}`, write(document, options));
    }
    // Last, so that whoever finds the document finds the others too.
    writeWhole(input, `${stem}.json`, jsonOf(document));
    input.output.progress(`wrote ${stem}.{json,md,html,xml}`);
  }
  writeReports(input, document, options);
}

/** Writes the forms that were asked for by name. */
export function writeReports(input: CommandInput, document: EvalDocument, options: ReportOptions): void {
  const wanted = Object.entries(FORMS).flatMap(([form, { write }]) => {
    const file = textOption(input, form);
    return file === undefined ? [] : [{ file, write }];
  });
  for (const { file, write } of wanted) {
    writeWhole(input, file, write(document, options));
    input.output.progress(`wrote ${file}`);
  }
}

/** Where a file of the results goes that is no document, such as a chart; undefined when `--out` names one file. */
export function besideResults(input: CommandInput, stem: string, end: string): string | undefined {
  const out = textOption(input, "out") ?? RESULTS_FOLDER;
  return out.endsWith(".json") ? undefined : join(out, `${stem}.${end}`);
}

/** Writes a file so that no reader ever meets half of it. Throws `BELAY_USAGE` when the place cannot be written. */
export function writeWhole(input: CommandInput, file: string, text: string): void {
  const path = resolve(input.cwd, file);
  try {
    // Answers of models lie in it, so no other user of the machine may look.
    mkdirSync(dirname(path), { recursive: true, mode: 0o700 });
    const draft = `${path}.${process.pid}.part`;
    writeFileSync(draft, text);
    renameSync(draft, path);
  } catch (error) {
    const code = error instanceof Error && "code" in error ? String(error.code) : "the file system refused it";
    throw usageError(`${file} cannot be written: ${code}. Name another place.`);
  }
}

export function jsonOf(value: unknown): string {
  return `${JSON.stringify(value, null, 2)}\n`;
}
