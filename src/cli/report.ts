import { readFileSync, writeFileSync } from "node:fs";
import { resolve } from "node:path";
import { htmlReport, junitReport, markdownReport, parseDocument, readVerdict } from "../evals/index.ts";
import { type Command, type CommandInput, textOption } from "./command.ts";
import { usageError } from "./usage.ts";

const FORMS = { markdown: markdownReport, html: htmlReport, junit: junitReport } as const;

export const reportCommand: Command = {
  name: "report",
  summary: "make Markdown, HTML or JUnit of a document of results",
  positionals: [{ name: "document" }],
  options: {
    markdown: { type: "string", value: "file", help: "write Markdown, such as for a pull request" },
    html: { type: "string", value: "file", help: "write one page with charts that needs nothing else" },
    junit: { type: "string", value: "file", help: "write JUnit XML" },
    verdict: { type: "string", value: "file", help: "what belay gate --json printed, to tell it too" },
  },
  examples: [
    "report results.json --html results.html",
    "report results.json --verdict gate.json --markdown comment.md --junit junit.xml",
  ],
  run: async (input) => {
    const [source = ""] = input.positionals;
    const wanted = Object.entries(FORMS).flatMap(([form, write]) => {
      const file = textOption(input, form);
      return file === undefined ? [] : [{ file, write }];
    });
    if (wanted.length === 0) {
      throw usageError("Say what to write: --markdown, --html or --junit with a file.");
    }
    const document = parseDocument(textOf(input, source), source);
    const verdictFile = textOption(input, "verdict");
    const verdict = verdictFile === undefined ? undefined : readVerdict(textOf(input, verdictFile), verdictFile);
    for (const { file, write } of wanted) {
      writeFileSync(resolve(input.cwd, file), write(document, verdict === undefined ? {} : { verdict }));
      input.output.progress(`wrote ${file}`);
    }
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
