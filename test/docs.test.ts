import { existsSync, globSync, readFileSync } from "node:fs";
import { dirname, join, sep } from "node:path";
import { describe, expect, it } from "vitest";
import { findCommand } from "../src/cli/commands.ts";
import { parseArguments } from "../src/cli/parse-arguments.ts";
import { BELAY_ERROR_CODES } from "../src/errors.ts";

const project = join(import.meta.dirname, "..");
const read = (file: string) => readFileSync(join(project, file), "utf8");
const filesIn = (pattern: string) =>
  globSync(pattern, { cwd: project })
    .map((file) => file.split(sep).join("/"))
    .sort();

const documents = [...filesIn("*.md"), ...filesIn("docs/**/*.md")];
const text = new Map(documents.map((file) => [file, read(file)]));
const { scripts } = JSON.parse(read("package.json")) as { readonly scripts: Readonly<Record<string, string>> };

/** Bodies of the fenced blocks of one language. */
function blocksOf(markdown: string, language: string): readonly string[] {
  return [...markdown.matchAll(new RegExp(`^\`\`\`${language}\\n([\\s\\S]*?)^\`\`\`$`, "gm"))].map(
    ([, body]) => body ?? "",
  );
}

const inEveryDocument = <Found>(find: (markdown: string, file: string) => readonly Found[]): string[] =>
  [...text].flatMap(([file, markdown]) => find(markdown, file).map((found) => `${file}: ${String(found)}`));

describe("README.md", () => {
  const readme = text.get("README.md") ?? "";

  it("shows examples/first-agent.ts, byte for byte, and nothing else as a program", () => {
    expect(blocksOf(readme, "ts")).toEqual([read("examples/first-agent.ts")]);
  });

  it("shows a program of twenty lines", () => {
    const lines = read("examples/first-agent.ts").split("\n");
    expect(lines.filter((line) => line.trim() !== "")).toHaveLength(20);
  });

  it("begins with the two commands that do everything", () => {
    expect(blocksOf(readme, "bash")[0]).toBe("npm ci && npm start\nnpm ci && npm test\n");
  });

  it("says what it promises and names a command for every number", () => {
    expect(readme).toContain(
      "**Whatever the model says, nothing happens that the rules do not allow, nothing happens twice, and you can prove both.**",
    );
    const table = (readme.split("## Numbers")[1] ?? "").split("\n## ")[0] ?? "";
    const rows = table.split("\n").filter((line) => /^\| (?!what )/.test(line));
    expect(rows.length).toBeGreaterThan(5);
    expect(rows.filter((row) => !/\| `npm run -s [^`]+` \|$/.test(row))).toEqual([]);
  });
});

describe("docs/errors.md", () => {
  it("has one line for each code, in the order of src/errors.ts", () => {
    const rows = [...(text.get("docs/errors.md") ?? "").matchAll(/^\| `(BELAY_[A-Z_]+)` \| (.+) \| (.+) \|$/gm)];
    expect(rows.map(([, code]) => code)).toEqual([...BELAY_ERROR_CODES]);
  });
});

describe("docs/decisions", () => {
  const decisions = documents.filter((file) => file.startsWith("docs/decisions/"));

  it("are numbered without a gap and say context, decision and consequence, shortly", () => {
    const numbers = decisions.map((file) => Number(/\/(\d{4})-[a-z0-9-]+\.md$/.exec(file)?.[1]));
    expect(numbers).toEqual(decisions.map((_file, index) => index + 1));
    const wrong = decisions.filter((file, index) => {
      const markdown = text.get(file) ?? "";
      const parts = ["Context:", "Decision:", "Consequence:"].map((part) => markdown.indexOf(`\n${part} `));
      const inOrder = parts.every((at, part) => at > (part === 0 ? 0 : (parts[part - 1] ?? 0)));
      return !inOrder || !markdown.startsWith(`# ${index + 1}. `) || markdown.split("\n").length > 16;
    });
    expect(wrong).toEqual([]);
  });
});

describe("guides", () => {
  it("show only code of the examples, which are compiled and run", () => {
    const examples = filesIn("examples/*.ts").map(read);
    const guides = documents.filter((file) => file.startsWith("docs/guides/"));
    const blocks = guides.flatMap((file) => blocksOf(text.get(file) ?? "", "ts"));
    expect(blocks.length).toBeGreaterThan(8);
    expect(blocks.filter((block) => !examples.some((example) => example.includes(block)))).toEqual([]);
  });
});

describe("every document", () => {
  it("names commands, options and scripts that exist", () => {
    const calls = [...text.values()]
      .flatMap(commandsIn)
      .flatMap((command) => [...command.matchAll(/npm run (?:-s )?([\w:]+)((?: [^|&]*)?)/g)]);
    expect(calls.length).toBeGreaterThan(20);
    for (const [whole, script = "", rest = ""] of calls) {
      expect(scripts, whole).toHaveProperty(script);
      if (script === "belay") {
        checkCommand(rest);
      }
    }
  });

  it("never names the package that has the bare name", () => {
    expect(
      inEveryDocument((markdown) => markdown.match(/\bnpx\b.*|npm (?:i|install) belay\b(?!-harness)/g) ?? []),
    ).toEqual([]);
  });

  it("has links that lead somewhere", () => {
    const broken = inEveryDocument((markdown, file) =>
      [...markdown.matchAll(/\]\((?!https?:)([^)#]+)[^)]*\)/g)]
        .map(([, target]) => target ?? "")
        .filter((target) => !existsSync(join(project, dirname(file), target))),
    );
    expect(broken).toEqual([]);
  });

  it("has no emoji", () => {
    expect(inEveryDocument((markdown) => markdown.match(/\p{Emoji_Presentation}/gu) ?? [])).toEqual([]);
  });
});

/** Every line of the shell blocks and every inline code, which may be broken over two lines. */
function commandsIn(markdown: string): readonly string[] {
  const inline = markdown.replaceAll(/^```[\s\S]*?^```$/gm, "").matchAll(/`([^`]+)`/g);
  return [
    ...blocksOf(markdown, "bash").flatMap((block) => block.split("\n")),
    ...[...inline].map(([, code]) => (code ?? "").replaceAll(/\s+/g, " ")),
  ];
}

/** Reads `-- run shop "two words" --json` as the program would, and runs nothing. */
function checkCommand(rest: string): void {
  const [, line = ""] = /^ -- (.*)$/.exec(rest.replace(/\s*[>#].*$/, "")) ?? [];
  const words = [...line.matchAll(/"([^"]*)"|(\S+)/g)].map(([, quoted, plain]) => quoted ?? plain ?? "");
  expect(words.length, `npm run -s belay${rest}`).toBeGreaterThan(0);
  if (words[0] === "--help") {
    return;
  }
  const { command, rest: args } = findCommand(words);
  // A command that is only spoken of stands without its arguments.
  parseArguments(command, args.length === 0 ? ["--help"] : args);
}
