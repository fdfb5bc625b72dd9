import { readFileSync } from "node:fs";
import { resolve } from "node:path";
import { parseDocument, readVerdict } from "../evals/index.ts";
import { type Command, type CommandInput, textOption } from "./command.ts";
import { REPORT_OPTIONS, writeReports } from "./results.ts";
import { usageError } from "./usage.ts";

export const reportCommand: Command = {
  name: "report",
  summary: "make Markdown, HTML or JUnit of a document of results",
  positionals: [{ name: "document" }],
  options: {
    ...REPORT_OPTIONS,
    verdict: { type: "string", value: "file", help: "what belay gate --json printed, to tell it too" },
  },
  examples: [
    "report results.json --html results.html",
    "report results.json --verdict gate.json --markdown comment.md --junit junit.xml",
  ],
  run: async (input) => {
    const [source = ""] = input.positionals;
    if (Object.keys(REPORT_OPTIONS).every((form) => input.options[form] === undefined)) {
      throw usageError("Say what to write: --markdown, --html or --junit with a file.");
    }
    const document = parseDocument(textOf(input, source), source);
    const verdictFile = textOption(input, "verdict");
    const verdict = verdictFile === undefined ? undefined : readVerdict(textOf(input, verdictFile), verdictFile);
    writeReports(input, document, verdict === undefined ? {} : { verdict });
    return 0;
  },
};

function textOf({ cwd }: CommandInput, file: string): string {
  try {
    return readFileSync(resolve(cwd, file), "utf8");
  } catch {
    throw usageError(`The file ${file} cannot be read. Correct its path.`);
  }
}
